"""Reports: one self-contained HTML file per run, made from nothing but its record.

    record (``run.json``) ──► reading ──► what sections say ──► templates/ + charts/ ──► HTML

The file needs no network, no script and no fonts, and the same record gives the same bytes.
"""

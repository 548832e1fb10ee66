"""Reports: one self-contained HTML file per run, made from nothing but its record.

    record (``run.json``) ──► labels ──► reading ──► what parts say ──► templates/ + charts/ ──► HTML
    sections added since ──► their own parts of the page ──► section_parts ──┘

The file needs no network, no script and no fonts, and the same record gives the same bytes.
"""

"""Charts as inline SVG: plain functions from numbers to markup, styled by the report's style sheet."""

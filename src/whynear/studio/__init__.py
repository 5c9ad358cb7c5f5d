"""The studio: a local server with a page and a plain API for studies, tables and single cases."""

"""What the processes do that are killed. Imported by a fork server, so that each starts at once."""

from whynear.studio import server


def studio(folder, port, reports):
    """Serve a project; the address is reported."""
    server.serve(None, folder, port, lambda _link: reports.send("started"), None)

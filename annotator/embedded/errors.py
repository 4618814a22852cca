"""What can go wrong, in words for the person at the keyboard."""


class ServicesUnavailable(Exception):
    """The services can't be had; the message is one sentence that says what to do."""

"""Starts and stops PostgreSQL and Valkey for the demo, the commands and the tests. No Django in here.

One *keeper* process per folder owns both services. Whoever needs them calls `hold`, which takes a shared
lock on ``run/users.lock``; the keeper waits for the exclusive lock on the same file. So the kernel tells it
when the last user is gone, killed ones included, and it stops the services. The locks, and who takes them:

``users.lock``   shared by each user for as long as it lives, exclusive by the keeper while it stops
``start.lock``   exclusive by a user while it looks for a keeper or starts one
``keeper.lock``  exclusive by the keeper for its whole life (the user that starts it hands it over)

The services listen on Unix sockets only, in a folder that nobody else can enter.
"""

from annotator.embedded.errors import ServicesUnavailable
from annotator.embedded.holding import Services, hold, named, secret_key

__all__ = ["Services", "ServicesUnavailable", "hold", "named", "secret_key"]

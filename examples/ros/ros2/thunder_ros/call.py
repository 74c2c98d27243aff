"""Call a service of a node: ``python3 -m thunder_ros.call /controller/reset``; ``... /controller/adapt false``.

The packages of PyPI bring no command ``ros2``, whose ``ros2 service call`` does the same.
"""

from __future__ import annotations

import argparse
import sys

import rclpy
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

FLAGS = {"true": True, "false": False}


def call(service: str, data: bool | None = None, timeout: float = 10.0) -> tuple[bool, str]:
    """Call a service of the type Trigger, or SetBool where there is data; return its success and message.

    Raises
    ------
    TimeoutError
        If no node offers the service, or its answer does not come in time.
    """
    kind = Trigger if data is None else SetBool
    node = Node("thunder_call")
    try:
        client = node.create_client(kind, service)
        if not client.wait_for_service(timeout_sec=timeout):
            raise TimeoutError(f"no node offers {service} of the type {kind.__name__}: is it running in this domain?")
        future = client.call_async(kind.Request() if data is None else kind.Request(data=data))
        rclpy.spin_until_future_complete(node, future, timeout_sec=timeout)
        if not future.done():
            raise TimeoutError(f"{service} has not answered within {timeout:g} s")
        return future.result().success, future.result().message
    finally:
        node.destroy_node()


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("service", help="full name, such as /controller/reset")
    parser.add_argument("data", nargs="?", choices=tuple(FLAGS), help="of services of the type SetBool")
    options = parser.parse_args()
    rclpy.init()
    try:
        success, message = call(options.service, FLAGS.get(options.data))
    except TimeoutError as error:
        success, message = False, str(error)
    finally:
        rclpy.shutdown()
    print(message or ("done" if success else "failed"))
    sys.exit(not success)


if __name__ == "__main__":
    main()

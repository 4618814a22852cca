"""Which servers a scorer may talk to: listed hosts, checked addresses."""

from __future__ import annotations

import doctest

import pytest

from annotator.scorers import endpoint as endpoints
from annotator.scorers import remote, vllm, votes
from annotator.scorers.endpoint import EndpointRefused, checked_addresses, endpoint


@pytest.mark.parametrize("module", [endpoints, remote, vllm, votes])
def test_the_examples_in_the_documentation_hold(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://other:8000", "not among the hosts"),
        ("http://gpu1:22", "not among the hosts"),
        ("http://gpu1.evil.example:8000", "not among the hosts"),
        ("http://gpu1:8000@169.254.169.254/", "no password"),
        ("http://user:secret@gpu1:8000", "no password"),
        ("file:///etc/passwd", "http://"),
        ("gopher://gpu1:8000", "http://"),
        ("http://", "a scheme, a host"),
        ("http://gpu1:8000/?x=1", "a scheme, a host"),
        ("http://gpu1:99999", "not a URL"),
        ("http://[::1", "not a URL"),
        ("http://example.org", "not among the hosts"),
        ("http://evilexample.org", "not among the hosts"),
    ],
)
def test_only_listed_hosts_and_ports_are_spoken_to(url: str, reason: str) -> None:
    with pytest.raises(EndpointRefused, match=reason):
        endpoint(url, ["gpu1:8000", "*.example.org"])


def test_nothing_is_allowed_where_nothing_is_listed() -> None:
    with pytest.raises(EndpointRefused):
        endpoint("http://localhost", [])


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.1.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "100.100.100.200",
        "0.0.0.0",
        "::",
        "224.0.0.1",
        "255.255.255.255",
    ],
)
def test_addresses_that_hand_out_credentials_are_refused_even_for_a_listed_host(address: str) -> None:
    with pytest.raises(EndpointRefused, match="leads to"):
        checked_addresses(endpoint("http://gpu1:8000", ["gpu1:8000"]), lambda *_: [address])


def test_a_metadata_address_is_refused_even_where_it_is_listed_itself() -> None:
    listed = endpoint("http://169.254.169.254", ["169.254.169.254"])
    with pytest.raises(EndpointRefused, match="credentials"):
        checked_addresses(listed)


def test_a_host_listed_by_name_may_be_private_and_one_below_a_listed_domain_may_not() -> None:
    def resolver(*_: object) -> list[str]:
        return ["10.1.2.3"]

    assert checked_addresses(endpoint("http://gpu1:8000", ["gpu1:8000"]), resolver) == ["10.1.2.3"]
    with pytest.raises(EndpointRefused, match="private address"):
        checked_addresses(endpoint("https://a.example.org", ["*.example.org"]), resolver)


def test_one_bad_address_among_good_ones_is_enough_to_refuse() -> None:
    with pytest.raises(EndpointRefused):
        checked_addresses(endpoint("https://gpu1", ["gpu1"]), lambda *_: ["93.184.216.34", "169.254.169.254"])

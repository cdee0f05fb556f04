"""What Schemathesis is to know of the contract: a 500 is an answer there, as long as it says why."""

import schemathesis


@schemathesis.check
def a_failure_says_why(ctx, response, case):
    if response.status_code < 400:
        return
    body = response.json()
    assert body.get("reason") != "internal", f"a bug of ours: {body}"
    if response.status_code >= 500:
        assert body.get("reason"), f"no reason: {body}"
    if response.status_code == 429:
        assert response.headers.get("retry-after"), "no word on when to come again"

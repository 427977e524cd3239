# SPDX-License-Identifier: MIT
from typing import Any, Dict, List

torch_version: str

class Options:
    plan: str
    topology: str
    map: str
    npus: List[int]
    world: int
    transport: str
    trace: str
    name: str
    effort: int
    members: str
    mistake: str
    verbose: bool
    timeout_s: float

def create(store: Any, rank: int, size: int, options: Options) -> Any: ...
def leave_all() -> None: ...
def counts(group: Any) -> Dict[str, int]: ...
def npus(group: Any) -> List[int]: ...

"""Cases on a PostgreSQL server: each in a schema of its own, whose name tells nothing."""

from __future__ import annotations

import hashlib
import re

from sqlalchemy import Text, literal_column, make_url, select, text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.pool import NullPool, QueuePool
from sqlalchemy.schema import DropSchema

from kiwiresearch.kin.store.ledger import AuditHeadRow
from kiwiresearch.kin.store.place import Place
from kiwiresearch.kin.store.problems import told
from kiwiresearch.store.place import server_engine

BUSY_S = 30.0
SEARCH_PATH = re.compile(r"-c\s*search_path=\S+")
TAG_LETTERS = 8


class Schemas:
    """The schemas of one database; several stores in it keep their cases apart."""

    def __init__(self, address: str, *, keeps_open: bool = False) -> None:
        """Where `keeps_open`, connections are kept for the next question until it is closed."""
        self._place = Place.of(address)
        self._engine = server_engine(self._place.address, busy_s=BUSY_S, pool=QueuePool if keeps_open else NullPool)
        self.name = self._place.name

    def close(self) -> None:
        self._engine.dispose()

    def schema(self, case_id: str) -> str:
        """The schema of a new case: named after the store's own and the id of the case."""
        with told(self.name), self._engine.connect() as connection:
            own = str(connection.execute(text("SELECT current_schema()")).scalar())
        tag = hashlib.sha256(own.encode()).hexdigest()[:TAG_LETTERS]
        return f"case_{tag}_{case_id}"

    def address(self, schema: str) -> str:
        """Where the case of a schema is opened."""
        url = make_url(self._place.address)
        given = url.query.get("options", ())
        others = SEARCH_PATH.sub("", given if isinstance(given, str) else " ".join(given)).split()
        options = " ".join([*others, f"-csearch_path={schema}"])
        return url.update_query_dict({"options": options}).render_as_string(hide_password=False)

    def revision(self, schema: str) -> str:
        """What is another text after each change of the case; empty where there is none."""
        asked = select(literal_column("xmin::text", Text()), AuditHeadRow.hash)
        with told(self.name), self._engine.connect() as connection:
            there = connection.execution_options(schema_translate_map={None: schema})
            try:
                return " ".join(there.execute(asked).one_or_none() or ())
            except ProgrammingError:
                return ""

    def drop(self, schema: str) -> None:
        """Remove a case with all that it holds."""
        with told(self.name), self._engine.begin() as connection:
            connection.execute(DropSchema(schema, cascade=True, if_exists=True))

"""Places so wide that a town may lie in them without saying so."""

from __future__ import annotations

LANDS = """
albania, algeria, argentina, armenia, australia, austria, austria hungary, bavaria, belgium, bohemia, bolivia, brazil,
britain, bulgaria, canada, castile, chile, china, colombia, croatia, cuba, cyprus, denmark, ecuador, egypt, england,
estonia, ethiopia, europe, finland, flanders, france, georgia, german empire, germany, ghana, great britain, greece,
guatemala, haiti, holland, holy roman empire, hungary, iceland, india, indonesia, iran, iraq, ireland, israel, italy,
jamaica, japan, jordan, kenya, kingdom of england, kingdom of france, kingdom of scotland, korea, latvia, lebanon,
libya, lithuania, luxembourg, macedonia, malta, mexico, monaco, morocco, netherlands, new zealand, nigeria,
northern ireland, norway, ottoman empire, pakistan, palestine, panama, persia, peru, philippines, poland, portugal,
prussia, romania, russia, russian empire, saxony, scotland, serbia, sicily, slovakia, slovenia, somalia, south africa,
soviet union, spain, sudan, sweden, switzerland, syria, thailand, tunisia, turkey, uganda, uk, ukraine,
united kingdom, united states, united states of america, uruguay, us, usa, venezuela, vietnam, wales, yugoslavia
"""
WIDE = frozenset(" ".join(place.split()) for place in LANDS.split(","))

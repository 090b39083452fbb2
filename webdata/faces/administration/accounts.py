"""`webdata accounts` and `webdata plans`: the owners of keys and credits, and their rate limits."""

import asyncio
from dataclasses import astuple, fields
from datetime import UTC, datetime
from typing import Any, get_args

import click
from ulid import ULID

from webdata.accounts.access.invitations import invite
from webdata.config.config import Config
from webdata.domain.account_names import check_account_name
from webdata.faces.administration.docs_pages import DocumentedGroup
from webdata.faces.administration.options import Name
from webdata.faces.administration.stores import find_account, open_stores, over_stores
from webdata.faces.administration.tables import print_table, to_minute
from webdata.stores.accounts.model import Account, Plan, Role
from webdata.stores.accounts.sql import AccountStore
from webdata.stores.answers.model import MOST_DAYS
from webdata.stores.sql_stores import SqlStores

MAX_AMOUNT = 10**12
"""The largest amount of one command."""
MAX_LOW = 10**9
"""The highest mark of a plan: the database has 32 bits for it."""


@click.group(cls=DocumentedGroup)
def accounts() -> None:
    """Make and list accounts, and give them credits."""


@accounts.command("create")
@click.argument("name", type=Name())
@click.option("--plan", default="default", show_default=True, help="How fast its keys may call: a plan's name.")
@click.option(
    "--credits", "amount", type=click.IntRange(0, MAX_AMOUNT), default=0, show_default=True, help="What it begins with."
)
@over_stores
async def create_account(stores: SqlStores, name: str, plan: str, amount: int) -> None:
    """Make an account."""
    check_account_name(name)
    if await stores.accounts.find(name):
        raise ValueError(f"there is an account {name!r} already: give another name")
    account = Account(f"acc_{ULID()}", name, await _plan(stores.accounts, plan), datetime.now(UTC))
    await stores.accounts.add(account)
    if amount:
        await stores.ledger.credit(account.id, amount, "first credits")
    click.echo(account.id)


@accounts.command("list")
@over_stores
async def list_accounts(stores: SqlStores) -> None:
    """List the accounts with their credits."""
    rows = [
        (one.id, str(await stores.ledger.balance(one.id)), one.plan.name, to_minute(one.created), _shown(one))
        for one in await stores.accounts.all()
    ]
    print_table(("id", "credits", "plan", "created", "name"), rows)


def _shown(account: Account) -> str:
    return f"{account.name} (deleted)" if account.closed else account.name


@accounts.command("credit", context_settings={"ignore_unknown_options": True})
@click.argument("account")
@click.argument("amount", type=click.IntRange(-MAX_AMOUNT, MAX_AMOUNT))
@click.option("--note", type=Name(), default="", help="The reason, for the ledger.")
@over_stores
async def credit(stores: SqlStores, account: str, amount: int, note: str) -> None:
    """Give ACCOUNT (a name or an id) credits; a negative AMOUNT takes some back."""
    owner = await find_account(stores.accounts, account)
    balance = await stores.ledger.credit(owner.id, amount, note)
    click.echo(f"{owner.name} has {balance:,} credits.")


@accounts.command("invite")
@click.argument("account")
@click.option(
    "--role",
    type=click.Choice(get_args(Role)),
    default="member",
    show_default=True,
    help="A member sees this account, an admin all of them.",
)
@click.pass_obj
def invite_member(config: Config, account: str, role: Role) -> None:
    """Print a link by which one person becomes a member of ACCOUNT (a name or an id), once, within 24 hours."""
    with open_stores(config) as stores:
        path = asyncio.run(_invite(stores, account, role))
    click.echo(f"{config.url}{path}")
    what = "sees all accounts" if role == "admin" else f"sees the account {account}"
    click.echo(f"Whoever opens it first chooses a password and {what}: send it over a safe channel.", err=True)


async def _invite(stores: SqlStores, name: str, role: Role) -> str:
    account = await find_account(stores.accounts, name)
    return await invite(stores.members, account.id, role)


QUOTA = click.IntRange(1, 10**15)


@click.group(cls=DocumentedGroup)
def plans() -> None:
    """List and change plans: how fast the keys of accounts may call."""


@plans.command("list")
@over_stores
async def list_plans(stores: SqlStores) -> None:
    """List the plans."""
    rows = [tuple(map(str, astuple(plan))) for plan in await stores.accounts.plans()]
    print_table([field.name.replace("_", " ") for field in fields(Plan)], rows)


@plans.command("set")
@click.argument("name", type=Name())
@click.option("--requests", type=click.IntRange(1, 10**6), required=True, help="How many requests each key may make …")
@click.option("--seconds", type=click.IntRange(1, 86400), default=60, show_default=True, help="… in how many seconds.")
@click.option("--in-flight", type=click.IntRange(1, 10**4), default=32, show_default=True, help="And at once.")
@click.option(
    "--low-credits",
    type=click.IntRange(0, MAX_LOW),
    default=100,
    show_default=True,
    help="At how many credits webhooks get credits.low; 0: never.",
)
@click.option(
    "--batch-rows",
    type=QUOTA,
    default=Plan.batch_rows,
    show_default=True,
    help="Queries of an account's batches that have not ended; its test keys have a hundredth of each quota.",
)
@click.option(
    "--batch-bytes",
    type=QUOTA,
    default=Plan.batch_bytes,
    show_default=True,
    help="Bytes that the queries and results of its batches take, compressed.",
)
@click.option("--batches", type=click.IntRange(1, 10**6), default=Plan.batches, show_default=True, help="Its batches.")
@click.option(
    "--schedules", type=click.IntRange(1, 10**4), default=Plan.schedules, show_default=True, help="And schedules."
)
@click.option(
    "--archive-days",
    type=click.IntRange(0, MOST_DAYS),
    default=Plan.archive_days,
    show_default=True,
    help="For how many days all answers are archived, with their pages; 0: only where a key or a call says so.",
)
@click.option(
    "--archive-bytes",
    type=QUOTA,
    default=Plan.archive_bytes,
    show_default=True,
    help="Bytes that archived answers take, compressed.",
)
@over_stores
async def set_plan(stores: SqlStores, /, **fields: Any) -> None:
    """Make a plan, or change it for all its accounts at once."""
    plan = Plan(**fields)
    await stores.accounts.put_plan(plan)
    click.echo(
        f"{plan.name}: {plan.requests} requests in {plan.seconds} seconds, {plan.in_flight} in flight, each key."
    )


async def _plan(accounts: AccountStore, name: str) -> Plan:
    plans = {plan.name: plan for plan in await accounts.plans()}
    if name not in plans:
        raise ValueError(f"there is no plan {name!r}: the plans are {', '.join(plans)}; `webdata plans set` makes one")
    return plans[name]

"""gnnc-opt: parse a module, run passes, print. Everything xdsl-opt has, and gnnc's dialects and passes."""

from collections.abc import Sequence

from xdsl.xdsl_opt_main import xDSLOptMain

from gnnc.universe import GNNC_UNIVERSE


class GnncOptMain(xDSLOptMain):
    """xdsl-opt with gnnc registered, whether or not gnnc's entry point is installed."""

    def register_all_dialects(self) -> None:
        super().register_all_dialects()
        for name, dialect in GNNC_UNIVERSE.all_dialects.items():
            if name not in self.ctx.registered_dialect_names:
                self.ctx.register_dialect(name, dialect)

    def register_all_passes(self) -> None:
        super().register_all_passes()
        for name, factory in GNNC_UNIVERSE.all_passes.items():
            self.register_pass(name, factory)


def main(args: Sequence[str] | None = None) -> None:
    """The console script `gnnc-opt`."""
    GnncOptMain("gnnc modular optimizer driver", args).run()


if __name__ == "__main__":
    main()

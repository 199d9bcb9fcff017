import ExampleSupport
import Glibc

/// A signal that comes while a command has begun nothing that would have to be stopped, or never does: it reads what images
/// there are, looks into the cache, measures.
enum EarlyInterruption {
    /// From now on SIGINT, SIGTERM and SIGHUP end the process at once, with a word and the status that shells know them by,
    /// until there is an ``Interruption``. One that the process was told to ignore stays ignored.
    static func heed() {
        for number in [SIGINT, SIGTERM, SIGHUP] where !Interruption.isIgnored(number) {
            signal(number) { number in
                // All that is done here is allowed in a handler.
                let line: StaticString = "alcedo: interrupted\n"
                _ = write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
                _exit(128 + number)
            }
        }
    }
}

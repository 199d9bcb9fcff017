import AlcedoLibc
import ExampleSupport

/// A signal that comes while a command has begun nothing that would have to be stopped, or never does: it reads what images
/// there are, or looks into the cache.
enum EarlyInterruption {
    /// From now on SIGINT, SIGTERM and SIGHUP end the process at once, with a word and the status that shells know them by,
    /// until there is an ``Interruption``. One that the process was told to ignore stays ignored.
    ///
    /// - Parameter isQuiet: Whether the word is left out.
    static func heed(isQuiet: Bool) {
        for number in [SIGINT, SIGTERM, SIGHUP] where !Interruption.isIgnored(number) {
            // All that is done in a handler is allowed there.
            if isQuiet {
                signal(number) { _exit(128 + $0) }
            } else {
                signal(number) { number in
                    EarlyInterruption.say()
                    _exit(128 + number)
                }
            }
        }
    }

    private static func say() {
        let line: StaticString = "alcedo: interrupted\n"
        _ = write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
    }
}

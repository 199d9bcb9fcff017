/// How many colours a terminal shows.
public enum TerminalColorDepth: Sendable, Hashable, CaseIterable {
    /// No colour and no escape codes at all.
    case none
    /// The palette of 256 that xterm introduced.
    case ansi256
    /// 24 bits a pixel.
    case trueColor

    /// Guesses from the environment, as terminals and users have agreed to say it:
    ///
    /// 1. A `NO_COLOR` that is not empty means none (no-color.org).
    /// 2. Output that is not a terminal, and `TERM=dumb`, mean none, unless `FORCE_COLOR` or `CLICOLOR_FORCE` is set
    ///    to anything but the empty text or `0`.
    /// 3. `COLORTERM` of `truecolor` or `24bit`, or a `TERM` that ends in `-direct`, means true colour.
    /// 4. A `TERM` that contains `256color`, or that begins with `xterm`, `screen` or `tmux`, means 256 colours: Debian
    ///    builds all three with them.
    /// 5. Anything else means none; 256 colours when forced.
    ///
    /// - Parameters:
    ///   - environment: Of the process.
    ///   - isTerminal: Whether the output goes to a terminal.
    public init(environment: [String: String], isTerminal: Bool) {
        let isSet = { (name: String) in !["", "0"].contains(environment[name] ?? "") }
        let isForced = isSet("FORCE_COLOR") || isSet("CLICOLOR_FORCE")
        let terminal = environment["TERM"] ?? ""
        guard (environment["NO_COLOR"] ?? "").isEmpty, isForced || (isTerminal && terminal != "dumb") else {
            self = .none
            return
        }
        if ["truecolor", "24bit"].contains(environment["COLORTERM"]) || terminal.hasSuffix("-direct") {
            self = .trueColor
        } else {
            let isCapable =
                terminal.contains("256color") || ["xterm", "screen", "tmux"].contains(where: terminal.hasPrefix)
            self = isForced || isCapable ? .ansi256 : .none
        }
    }
}

/// The number of colors that a terminal shows.
public enum TerminalColorDepth: Sendable, Hashable, CaseIterable {
    /// No colors and no escape codes.
    case none
    /// The 256-color palette introduced by xterm.
    case ansi256
    /// 24 bits per pixel.
    case trueColor

    /// Detects the color depth from the environment, by common conventions. Color is forced if `FORCE_COLOR` or
    /// `CLICOLOR_FORCE` has a value that is neither empty nor `0`. The first rule that applies decides:
    ///
    /// 1. If `NO_COLOR` is not empty, the depth is `none` (no-color.org).
    /// 2. If color is not forced, and the output is not a terminal or `TERM` is `dumb`, the depth is `none`.
    /// 3. If `COLORTERM` is `truecolor` or `24bit`, or if `TERM` ends in `-direct`, the depth is `trueColor`.
    /// 4. If `TERM` contains `256color` or begins with `xterm`, `screen` or `tmux`, the depth is `ansi256`. Debian
    ///    builds all three with 256 colors.
    /// 5. If color is forced, the depth is `ansi256`, and otherwise `none`.
    ///
    /// - Parameters:
    ///   - environment: The environment variables of the process.
    ///   - isTerminal: Whether the output is a terminal.
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

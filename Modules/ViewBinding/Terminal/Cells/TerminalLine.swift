/// One line of half-block cells, with a code only where a colour changes.
struct TerminalLine {
    private var text = ""
    private var foreground: TerminalPaint?
    private var background: TerminalPaint?

    /// Adds a cell.
    ///
    /// - Parameter lower: nil leaves the lower half in the terminal's own background.
    mutating func append(upper: TerminalPaint, lower: TerminalPaint?) {
        var parameters: [String] = []
        if foreground != upper { parameters.append(upper.parameters(isForeground: true)) }
        if let lower, background != lower { parameters.append(lower.parameters(isForeground: false)) }
        foreground = upper
        background = lower
        if !parameters.isEmpty { text += "\u{1B}[\(parameters.joined(separator: ";"))m" }
        text += "▀"
    }

    /// The line, ending with a reset so that no colour runs on.
    func finished() -> String { text + "\u{1B}[0m" }
}

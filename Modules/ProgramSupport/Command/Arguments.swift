/// The words of a command line: options with or without a value, and the rest.
package struct Arguments {
    private var words: ArraySlice<String>
    private var isLiteral = false

    /// What was neither an option nor an option's value, in order.
    package private(set) var rest: [String] = []

    package init(_ words: some Sequence<String>) { self.words = Array(words)[...] }

    /// Returns the next option, collecting other words on the way; nil at the end. `--` makes all that follows no
    /// option.
    package mutating func nextOption() -> String? {
        valuelessOption = valuelessOption ?? pendingValueOf
        pendingValueOf = nil
        while let word = words.popFirst() {
            if !isLiteral, word == "--" {
                isLiteral = true
            } else if !isLiteral, word.hasPrefix("-"), word != "-" {
                guard let equals = word.firstIndex(of: "="), word.hasPrefix("--") else { return word }
                words = [String(word[word.index(after: equals)...])] + words
                pendingValueOf = String(word[..<equals])
                return pendingValueOf
            } else {
                rest.append(word)
            }
        }
        return nil
    }

    /// The option that was just read, when it has a value after `=`.
    private var pendingValueOf: String?
    /// The first option whose value after `=` nobody took.
    private var valuelessOption: String?

    /// Returns the value of the option that was just read. Throws ``UsageError`` when there is none, and for a word that is
    /// an option itself: that the value was forgotten is likelier than that it looks so, which `=` is for.
    package mutating func value(of option: String) throws -> String {
        let isAttached = pendingValueOf != nil
        pendingValueOf = nil
        guard let value = words.popFirst(), !value.isEmpty else { throw UsageError("\(option) needs a value") }
        // A number below nought is a value, if seldom one of use.
        guard isAttached || !value.hasPrefix("-") || value == "-" || value.dropFirst().first?.isNumber == true else {
            throw UsageError("\(option) needs a value before '\(value)'")
        }
        return value
    }

    /// Returns the value as a number of the range. Throws ``UsageError`` for anything else.
    package mutating func number(of option: String, in range: ClosedRange<Int>) throws -> Int {
        let text = try value(of: option)
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("\(option) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }

    /// Returns the value as a time in seconds, decimals allowed, from a millisecond to a day. Throws ``UsageError`` for
    /// anything else.
    package mutating func seconds(of option: String) throws -> Duration {
        let text = try value(of: option)
        // Double would take "1e3", "0x10" and "inf" too.
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, let seconds = Double(text), (0.001...86_400).contains(seconds) else {
            throw UsageError("\(option) takes seconds from 0.001 to 86400, not '\(text)'")
        }
        return .seconds(seconds)
    }

    /// To be called at the end: an option with `=` whose value nobody took has none.
    package func finish() throws {
        if let option = valuelessOption ?? pendingValueOf { throw UsageError("\(option) takes no value") }
    }

    /// As ``finish()``, for a command that takes options only.
    package func finish(rejectingWordsFor command: String) throws {
        try finish()
        if let extra = rest.first { throw UsageError("\(command) does not take '\(extra)'") }
    }
}

/// A command line that makes no sense. The process ends with status 2.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

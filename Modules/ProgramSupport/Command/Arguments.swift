/// The arguments of a command line: options, with or without a value, and other arguments.
package struct Arguments {
    private var words: ArraySlice<String>
    private var isLiteral = false

    /// The arguments that are neither options nor values of options, in order.
    package private(set) var rest: [String] = []

    package init(_ words: some Sequence<String>) { self.words = Array(words)[...] }

    /// Returns the next option, or nil at the end. Collects other arguments in ``rest``. No argument after `--` is an
    /// option.
    ///
    /// For `--name=value`, returns `--name`. ``value(of:)`` then returns the value.
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

    /// The last option returned, if it has a value after `=` that has not been read yet.
    private var pendingValueOf: String?
    /// The first option whose value after `=` was not read.
    private var valuelessOption: String?

    /// Returns the value of the last option: the text after `=`, or else the next argument.
    ///
    /// - Throws: ``UsageError`` if the value is missing or empty, or if the next argument begins with a hyphen and is
    ///   neither `-` nor a negative number. Such an argument is probably an option. As a value, it can be given after
    ///   `=`.
    package mutating func value(of option: String) throws -> String {
        let isAttached = pendingValueOf != nil
        pendingValueOf = nil
        guard let value = words.popFirst(), !value.isEmpty else { throw UsageError("\(option) needs a value") }
        // A negative number is accepted as a value.
        guard isAttached || !value.hasPrefix("-") || value == "-" || value.dropFirst().first?.isNumber == true else {
            throw UsageError("\(option) needs a value, not the option '\(value)'")
        }
        return value
    }

    /// Returns the value of the last option as an integer. Throws ``UsageError`` if it is missing or not an integer in
    /// the range.
    package mutating func number(of option: String, in range: ClosedRange<Int>) throws -> Int {
        let text = try value(of: option)
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "\(option) needs an integer from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }

    /// Returns the value of the last option as a duration. Throws ``UsageError`` if the value is missing or not a
    /// number of seconds from 0.001 to 86,400, written with digits and at most one decimal point.
    package mutating func seconds(of option: String) throws -> Duration {
        let text = try value(of: option)
        // `Double` would also accept "1e3", "0x10" and "inf".
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, let seconds = Double(text), (0.001...86_400).contains(seconds) else {
            throw UsageError("\(option) needs a number of seconds from 0.001 to 86400, not '\(text)'")
        }
        return .seconds(seconds)
    }

    /// Completes the parsing. Throws ``UsageError`` if an option has a value after `=` that was not read. Call it at
    /// the end.
    package func finish() throws {
        if let option = valuelessOption ?? pendingValueOf { throw UsageError("\(option) does not take a value") }
    }

    /// Completes the parsing for a command that takes only options. Throws ``UsageError`` for any other argument as
    /// well.
    package func finish(rejectingWordsFor command: String) throws {
        try finish()
        if let extra = rest.first { throw UsageError("\(command) has an unexpected argument '\(extra)'") }
    }
}

/// An error in the command line. The process ends with status 2.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

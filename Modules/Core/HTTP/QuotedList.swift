/// A comma-separated list in whose members quoted strings may hold commas. Source: RFC 9110 sections 5.6.1 and 5.6.4.
package enum QuotedList {
    /// The members without blanks at their ends, the empty ones left out.
    ///
    /// - Parameter hasEscapes: Whether a backslash takes the meaning from the quote behind it. In entity tags it does
    ///   not.
    package static func members(of text: String, hasEscapes: Bool = true) -> [Substring] {
        var members: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if isEscaped {
                isEscaped = false
            } else if hasEscapes, isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                members.append(text[start..<index])
                start = text.utf8.index(after: index)
            }
        }
        members.append(text[start...])
        return members.map(\.trimmedOfBlanks).filter { !$0.isEmpty }
    }
}

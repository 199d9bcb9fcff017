/// Which bytes of the whole an answer has. Source: RFC 9110 section 14.4.
package struct ContentRange: Equatable {
    package let bytes: Range<Int>
    /// Bytes of the whole; nil when the server does not know.
    package let completeCount: Int?

    /// Nil unless `text` is a range of bytes that can be.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, case .from(let first, let last?)? = ByteRange("bytes=\(parts[0])"), last < Int.max
        else {
            return nil
        }
        bytes = first..<(last + 1)
        if parts[1] == "*" {
            completeCount = nil
        } else {
            guard case .from(let count, nil)? = ByteRange("bytes=\(parts[1])-"), count > last, count < Int.max else {
                return nil
            }
            completeCount = count
        }
    }

    package init(bytes: Range<Int>, completeCount: Int?) {
        self.bytes = bytes
        self.completeCount = completeCount
    }

    package var text: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(completeCount.map { String($0) } ?? "*")"
    }
}

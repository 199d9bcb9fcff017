import AlcedoLibc
import AlcedoRuntime

/// The parser of host names and addresses in URLs. Source: URL Standard (WHATWG), section 3.5.
package enum WebHost {
    /// Returns a host in its normal form, in lowercase, or nil if the bytes are not a valid host. An IPv4 address has
    /// four decimal numbers, an IPv6 address is in brackets with its longest run of zeros omitted, and a name outside
    /// of ASCII is in Punycode.
    package static func parse(_ bytes: ArraySlice<UInt8>) -> String? {
        if bytes.first == UInt8(ascii: "[") {
            guard bytes.count > 2, bytes.last == UInt8(ascii: "]") else { return nil }
            return ipv6(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self))
        }
        let decoded = bytes.percentDecodedLeniently()
        guard let text = String(validating: decoded, as: UTF8.self), let ascii = InternationalName.ascii(text) else {
            return nil
        }
        // Without libidn2, the name stays as it is, and the transport refuses or converts it.
        guard ascii.utf8.allSatisfy({ $0 < 0x80 }) else {
            return decoded.percentEncoded { $0.isUnreserved }.lowercased()
        }
        // The standard allows some more characters. No host has them, and libcurl refuses them.
        guard !ascii.isEmpty, ascii.utf8.allSatisfy(\.isUnreserved) else { return nil }
        let name = ascii.lowercased()
        return endsInNumber(name) ? ipv4(name) : name
    }

    private static func endsInNumber(_ name: String) -> Bool {
        var labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if labels.last == "", labels.count > 1 { labels.removeLast() }
        guard let last = labels.last, !last.isEmpty else { return false }
        return last.utf8.allSatisfy { (0x30...0x39).contains($0) } || number(last) != nil
    }

    /// Returns the value of a decimal, octal (`0…`) or hexadecimal (`0x…`) number; nil if it is not one. Large numbers
    /// are reduced to `Int.max`.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty else { return nil }
        var (digits, radix) = (text, 10)
        if text.hasPrefix("0x") {
            (digits, radix) = (text.dropFirst(2), 16)
        } else if text.count > 1, text.hasPrefix("0") {
            (digits, radix) = (text.dropFirst(), 8)
        }
        if digits.isEmpty { return 0 }
        guard digits.utf8.allSatisfy({ Int($0.hexadecimalValue ?? 255) < radix }) else { return nil }
        return Int(digits, radix: radix) ?? .max
    }

    private static func ipv4(_ name: String) -> String? {
        var labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if labels.last == "", labels.count > 1 { labels.removeLast() }
        guard labels.count <= 4 else { return nil }
        let numbers = labels.compactMap(number)
        guard numbers.count == labels.count, let last = numbers.last, numbers.dropLast().allSatisfy({ $0 <= 255 }),
            last < 1 << (8 * (5 - numbers.count))
        else { return nil }
        var address = last
        for (index, number) in numbers.dropLast().enumerated() { address |= number << (8 * (3 - index)) }
        return [24, 16, 8, 0].map { String(address >> $0 & 255) }.joined(separator: ".")
    }

    private static func ipv6(_ text: String) -> String? {
        var address = in6_addr()
        // `inet_pton` accepts neither zones nor a zero byte, which the standard does not allow either.
        guard !text.utf8.contains(0), inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: address) { Array($0) }
        let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        var longest = 0..<0
        var index = 0
        while index < 8 {
            let end = groups[index...].firstIndex { $0 != 0 } ?? 8
            if end - index > max(1, longest.count) { longest = index..<end }
            index = max(end, index + 1)
        }
        func joined(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return "[\(joined(0..<8))]" }
        return "[\(joined(0..<longest.lowerBound))::\(joined(longest.upperBound..<8))]"
    }
}

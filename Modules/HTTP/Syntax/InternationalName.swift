import AlcedoLibc

/// The conversion of host names outside of ASCII by the rules of browsers (UTS #46). It uses libidn2, which libcurl
/// usually loads. The library is looked up at run time, so that it is no dependency.
package enum InternationalName {
    private typealias Convert =
        @convention(c) (
            UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, CInt
        ) -> CInt
    private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void
    private typealias Functions = (convert: Convert, free: Free)

    private static let functions: Functions? = {
        guard let convert = dlsym(nil, "idn2_to_ascii_8z"), let free = dlsym(nil, "idn2_free") else { return nil }
        return (unsafeBitCast(convert, to: Convert.self), unsafeBitCast(free, to: Free.self))
    }()

    /// The dots that separate labels, also in East Asian writing. Source: UTS #46, section 2.3.
    private static let dots: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

    /// The errors of libidn2 for rules that only IDNA 2008 has: IDN2_2HYPHEN, IDN2_HYPHEN_STARTEND, IDN2_DISALLOWED
    /// (which includes symbols), IDN2_CONTEXTO and IDN2_CONTEXTO_NO_RULE.
    private static let ignoredErrors: Set<CInt> = [-301, -302, -304, -307, -308]

    /// Returns the ASCII form of a name. Returns nil if a label is not valid, also one that is already in Punycode, and
    /// the name itself if libidn2 is not available.
    package static func ascii(_ name: String) -> String? {
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) || name.lowercased().contains("xn--"), let functions else {
            return name
        }
        guard !name.utf8.contains(0), name.utf8.count <= 1_000 else { return nil }
        // In a name that is not ASCII, libidn2 would refuse labels such as `r3---sn`, which browsers accept.
        let labels = name.unicodeScalars.split(omittingEmptySubsequences: false) { dots.contains($0) }
        let converted = labels.compactMap { ascii(label: String(Substring($0)), functions) }
        return converted.count == labels.count ? converted.joined(separator: ".") : nil
    }

    private static func ascii(label: String, _ functions: Functions) -> String? {
        if label.utf8.allSatisfy({ $0 < 0x80 }) {
            let name = label.lowercased()
            return !name.hasPrefix("xn--") || isAccepted(convert(name, functions).code) ? name : nil
        }
        let (code, ascii) = convert(label, functions)
        if let ascii { return ascii }
        guard isAccepted(code) else { return nil }
        // libidn2 checks the rules of UTS #46 in Punycode, before those of IDNA 2008. The mapping is that of symbols
        // and their neighbors: lowercase, without the variation selector of emoji.
        let mapped = label.lowercased().unicodeScalars.filter { $0.value != 0xFE0F }
        let name = "xn--" + punycode(mapped.map { Int($0.value) })
        return isAccepted(convert(name, functions).code) ? name : nil
    }

    private static func isAccepted(_ code: CInt) -> Bool { code == 0 || ignoredErrors.contains(code) }

    private static func convert(_ label: String, _ functions: Functions) -> (code: CInt, ascii: String?) {
        // IDN2_NFC_INPUT and IDN2_NONTRANSITIONAL, as in browsers.
        let flags: CInt = 1 | 8
        var ascii: UnsafeMutablePointer<CChar>?
        let code = functions.convert(label, &ascii, flags)
        guard code == 0, let ascii else { return (code, nil) }
        defer { functions.free(ascii) }
        return (code, String(cString: ascii))
    }

    /// Returns the Punycode of a label without its prefix. Source: RFC 3492, section 6.3, with the names of that page.
    ///
    /// - Complexity: O(n²) for n code points, of which a label has less than 1,000.
    private static func punycode(_ label: [Int]) -> String {
        func digit(_ value: Int) -> UInt8 { UInt8(truncatingIfNeeded: value < 26 ? 0x61 + value : 0x16 + value) }
        var output = label.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var (codePoint, delta, bias, handledCount) = (0x80, 0, 72, basicCount)
        while let next = label.lazy.filter({ $0 >= codePoint }).min() {
            delta += (next - codePoint) * (handledCount + 1)
            for other in label {
                if other < next { delta += 1 }
                guard other == next else { continue }
                var (rest, position) = (delta, 36)
                while case let threshold = min(max(position - bias, 1), 26), rest >= threshold {
                    output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
                    rest = (rest - threshold) / (36 - threshold)
                    position += 36
                }
                output.append(digit(rest))
                delta /= handledCount == basicCount ? 700 : 2
                handledCount += 1
                delta += delta / handledCount
                bias = 0
                while delta > 455 { (delta, bias) = (delta / 35, bias + 36) }
                bias += 36 * delta / (delta + 38)
                delta = 0
            }
            (codePoint, delta) = (next + 1, delta + 1)
        }
        return String(decoding: output, as: UTF8.self)
    }
}

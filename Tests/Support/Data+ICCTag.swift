package import Foundation

extension Data {
    /// Returns this ICC profile with one more tag, whose element is at its end.
    ///
    /// - Parameters:
    ///   - name: Four ASCII characters.
    ///   - element: The bytes of the element.
    package func addingICCTag(_ name: String, _ element: Data) -> Data {
        let bytes = [UInt8](self)
        func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        func encoded(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let count = number(at: 128)
        let padded = [UInt8](element) + [UInt8](repeating: 0, count: (4 - element.count % 4) % 4)
        var result = encoded(bytes.count + 12 + padded.count)
        result += bytes[4..<128]
        result += encoded(count + 1)
        for entry in stride(from: 132, to: 132 + 12 * count, by: 12) {
            result += bytes[entry..<entry + 4]
            // The table grows by one entry.
            result += encoded(number(at: entry + 4) + 12)
            result += bytes[entry + 8..<entry + 12]
        }
        result += Array(name.utf8)
        result += encoded(bytes.count + 12)
        result += encoded(element.count)
        result += bytes[(132 + 12 * count)...]
        result += padded
        return Data(result)
    }
}

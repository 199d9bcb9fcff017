import FoundationEssentials

/// A writer of ICC profiles. Source: ICC.1:2022, sections 7 and 10.
struct ICCWriter {
    /// X, Y and Z of the white D50.
    static let d50 = [0.9642, 1, 0.8249]

    /// The first of January 2000. The date is constant, so that equal descriptions have equal bytes.
    private static let date: [UInt8] = [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]

    /// The 128 bytes of the header. The size in its first four bytes is replaced.
    private let header: [UInt8]
    private var elements: [(names: [String], bytes: [UInt8])] = []

    /// Creates a writer of a display profile of version 4.4 with the media-relative colorimetric intent.
    ///
    /// - Parameter space: The color space of the samples, such as `RGB `.
    init(space: String) {
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 4, 0x40, 0, 0]
        bytes += Array("mntr\(space)XYZ ".utf8)
        bytes += Self.date
        // No platform, flags, manufacturer, model and attributes
        bytes += Array("acsp".utf8) + [UInt8](repeating: 0, count: 24)
        // The intent: media-relative colorimetric
        bytes += Self.bigEndian(1) + Self.d50.flatMap(Self.fixed)
        header = bytes + [UInt8](repeating: 0, count: 128 - bytes.count)
    }

    /// Creates a writer of a profile with the header of another profile. The digest is left out, and so are the fields
    /// that can identify a device: the date, the manufacturer, the model and the creator of the profile.
    init(header: ArraySlice<UInt8>) {
        var bytes = Array(header)
        bytes.replaceSubrange(24..<36, with: Self.date)
        for field in [48..<56, 80..<84, 84..<100] {
            bytes.replaceSubrange(field, with: [UInt8](repeating: 0, count: field.count))
        }
        self.header = bytes
    }

    /// Adds one element under several names.
    mutating func add(_ names: [String], _ bytes: [UInt8]) { elements.append((names, bytes)) }

    /// The profile. Elements begin at multiples of four bytes.
    var data: Data {
        let count = elements.reduce(0) { $0 + $1.names.count }
        let start = 128 + 4 + 12 * count
        var table = Self.bigEndian(count)
        var body: [UInt8] = []
        for (names, bytes) in elements {
            for name in names {
                table += Array(name.utf8) + Self.bigEndian(start + body.count) + Self.bigEndian(bytes.count)
            }
            body += bytes
            body += [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        var bytes = Self.bigEndian(start + body.count)
        bytes += header.dropFirst(4)
        bytes += table
        bytes += body
        return Data(bytes)
    }

    static func bigEndian(_ value: Int) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Returns a number with 16 bits after the point.
    static func fixed(_ value: Double) -> [UInt8] { bigEndian(Int((value * 65_536).rounded())) }

    static func numbers(_ type: String, _ values: [Double]) -> [UInt8] {
        Array("\(type)\0\0\0\0".utf8) + values.flatMap(fixed)
    }

    static func xyz(_ values: [Double]) -> [UInt8] { numbers("XYZ ", values) }

    /// Returns a text with one language.
    static func text(_ text: String) -> [UInt8] {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let header = Array("mluc\0\0\0\0".utf8) + bigEndian(1) + bigEndian(12) + Array("enUS".utf8)
        return header + bigEndian(units.count) + bigEndian(28) + units
    }
}

import FoundationEssentials

/// Puts numbers and texts behind one another: numbers of 64 bits in little-endian order, texts in UTF-8 after their
/// length.
struct ByteWriter {
    private(set) var data = Data()

    mutating func write(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { data.append(contentsOf: $0) }
    }

    mutating func write(_ number: Double) { write(Int(bitPattern: UInt(number.bitPattern))) }

    mutating func write(_ date: Date) { write(date.timeIntervalSinceReferenceDate) }

    mutating func write(_ text: String) {
        write(text.utf8.count)
        data.append(contentsOf: text.utf8)
    }
}

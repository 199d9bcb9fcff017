import AlcedoCore
import FoundationEssentials
import Testing

@Suite struct EXIFOrientationTests {
    /// A TIFF header and one directory: a width tag, then the orientation as a SHORT.
    private func tiff(_ value: UInt16, bigEndian: Bool, type: UInt16 = 3) -> [UInt8] {
        func number(_ value: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: bigEndian ? value.bigEndian : value.littleEndian) { Array($0) }
        }
        var bytes: [UInt8] = Array(bigEndian ? "MM\0*".utf8 : "II*\0".utf8)
        bytes += number(UInt32(8))
        bytes += number(UInt16(2))
        bytes += number(UInt16(0x0100)) + number(UInt16(4)) + number(UInt32(1)) + number(UInt32(640))
        bytes += number(UInt16(0x0112)) + number(type) + number(UInt32(1)) + number(value) + [0, 0]
        return bytes + number(UInt32(0))
    }

    private func orientation(of bytes: [UInt8]) -> ImageOrientation { ImageOrientation(exif: bytes.span.bytes) }

    @Test(arguments: 1...8, [true, false])
    func `every orientation is read in both byte orders`(value: Int, bigEndian: Bool) {
        #expect(orientation(of: tiff(UInt16(value), bigEndian: bigEndian)) == ImageOrientation(rawValue: value))
    }

    @Test(arguments: [0, 9, 255, 0x0600, 0xFFFF] as [UInt16])
    func `invalid values yield the orientation up`(value: UInt16) {
        #expect(orientation(of: tiff(value, bigEndian: true)) == .up)
        #expect(orientation(of: tiff(value, bigEndian: false)) == .up)
    }

    /// BYTE, LONG, SBYTE, SSHORT, SLONG and IFD, with the number of bytes of a value.
    private static let integerTypes: [(type: UInt16, size: Int)] = [(1, 1), (4, 4), (6, 1), (8, 2), (9, 4), (13, 4)]

    /// Returns data whose orientation is an integer of another type than SHORT.
    private func tiff(_ value: Int, type: UInt16, size: Int, bigEndian: Bool) -> [UInt8] {
        var data = tiff(0, bigEndian: bigEndian, type: type)
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * (bigEndian ? size - 1 - $0 : $0))) }
        data.replaceSubrange(30..<30 + size, with: bytes)
        return data
    }

    @Test(arguments: 0..<6, [true, false])
    func `every integer type is read, and an orientation is written as a SHORT`(index: Int, bigEndian: Bool) {
        let (type, size) = Self.integerTypes[index]
        for value in [-1, 0, 1, 5, 6, 8, 9, 255] {
            let data = tiff(value, type: type, size: size, bigEndian: bigEndian)
            #expect(orientation(of: data) == ImageOrientation(rawValue: value) ?? .up)
            #expect(ImageOrientation.left.written(in: Data(data)) == tiff(8, bigEndian: bigEndian))
        }
    }

    @Test(arguments: [0, 2, 5, 7, 10, 11, 12, 14, 0xFFFF] as [UInt16])
    func `a type other than an integer yields the orientation up`(type: UInt16) {
        #expect(orientation(of: tiff(6, bigEndian: false, type: type)) == .up)
    }

    @Test(arguments: [true, false])
    func `truncated data yields the orientation up until the value is complete`(bigEndian: Bool) {
        let whole = tiff(6, bigEndian: bigEndian)
        // 8 header, 2 count, 12 width, 10 up to the end of the value.
        for count in 0..<whole.count {
            #expect(orientation(of: Array(whole[..<count])) == (count < 32 ? .up : .right), "\(count) bytes")
        }
    }

    @Test func `a changed byte never traps`() {
        let whole = tiff(6, bigEndian: false)
        for index in whole.indices {
            for value in UInt8.min...255 {
                var bytes = whole
                bytes[index] = value
                let found = orientation(of: bytes)
                if value == whole[index] { #expect(found == .right) }
            }
        }
    }

    @Test(arguments: [0, 1, 7, 34, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32])
    func `a directory offset out of range means up`(offset: UInt32) {
        for bigEndian in [true, false] {
            var bytes = tiff(6, bigEndian: bigEndian)
            withUnsafeBytes(of: bigEndian ? offset.bigEndian : offset.littleEndian) {
                bytes.replaceSubrange(4..<8, with: $0)
            }
            #expect(orientation(of: bytes) == .up)
        }
    }

    @Test func `a directory that declares too many entries ends with the data`() {
        var bytes = tiff(6, bigEndian: false)
        bytes.replaceSubrange(8..<10, with: [0xFF, 0xFF])
        #expect(orientation(of: bytes) == .right)

        bytes.replaceSubrange(22..<24, with: [0x13, 0x01])
        #expect(orientation(of: bytes) == .up)
    }

    @Test(arguments: [true, false])
    func `an orientation is written into the tag of the data`(bigEndian: Bool) {
        let whole = tiff(6, bigEndian: bigEndian)
        #expect(ImageOrientation.left.written(in: Data(whole)) == tiff(8, bigEndian: bigEndian))
        #expect(ImageOrientation.up.written(in: Data(whole)) == tiff(1, bigEndian: bigEndian))
    }

    @Test(arguments: [true, false])
    func `data without an orientation tag gets one and keeps its other tags and values`(bigEndian: Bool) {
        for (tag, isAfter) in [(0x0113, false), (0x0111, true)] as [(UInt16, Bool)] {
            var data = tiff(6, bigEndian: bigEndian)
            data.replaceSubrange(22..<24, with: bigEndian ? [1, UInt8(tag & 0xFF)] : [UInt8(tag & 0xFF), 1])
            data.append(7)  // an odd size, and a byte that no directory names
            let written = ImageOrientation.left.written(in: Data(data))
            #expect(orientation(of: written) == .left)
            #expect(written[8..<data.count] == data[8...])
            // The new directory: three tags in ascending order, the old entries unchanged, no further directory.
            let directory = written[(data.count + 1)...]
            #expect(directory.count == 2 + 3 * 12 + 4)
            let entries = (0..<3).map { Array(directory.dropFirst(2 + 12 * $0).prefix(12)) }
            #expect(entries[0] == Array(data[10..<22]))
            #expect(entries[isAfter ? 1 : 2] == Array(data[22..<34]))
            #expect(Array(directory.suffix(4)) == [0, 0, 0, 0])
            #expect(ImageOrientation.up.written(in: Data(data)) == data)
        }
    }

    @Test func `an orientation replaces damaged data only if the image is not upright`() {
        for data in [Array("Exif".utf8), Array(tiff(6, bigEndian: true)[..<20])] {
            #expect(orientation(of: ImageOrientation.down.written(in: Data(data))) == .down)
            #expect(ImageOrientation.up.written(in: Data(data)) == data)
        }
        #expect(ImageOrientation.up.written(in: nil).isEmpty)
    }

    @Test func `data that is not TIFF yields the orientation up`() {
        #expect(orientation(of: []) == .up)
        #expect(orientation(of: Array("Exif\0\0".utf8) + tiff(6, bigEndian: false)) == .up)
        #expect(orientation(of: Array("IM*\0".utf8) + tiff(6, bigEndian: false).dropFirst(4)) == .up)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `a written orientation is read back`(orientation: ImageOrientation) {
        let exif = orientation.exif
        #expect(exif.count == 26)
        #expect(ImageOrientation(exif: exif.span.bytes) == orientation)
        for end in 0..<20 {
            let cut = Array(exif[..<end])
            #expect(ImageOrientation(exif: cut.span.bytes) == .up)
        }
    }
}

import AlcedoCore
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

    @Test func `a type other than SHORT yields the orientation up`() {
        #expect(orientation(of: tiff(6, bigEndian: false, type: 4)) == .up)
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

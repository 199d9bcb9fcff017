import AlcedoCore
import AlcedoTesting
import Testing

@Suite struct OrientationTests {
    // The stored picture, and each orientation's upright one, drawn by hand from CIPA DC-008: where row 0 and column 0
    // of the stored picture are seen.
    //
    //     a b c
    //     d e f
    private static let upright: [(ImageOrientation, [String])] = [
        (.up, ["abc", "def"]),
        (.upMirrored, ["cba", "fed"]),
        (.down, ["fed", "cba"]),
        (.downMirrored, ["def", "abc"]),
        (.leftMirrored, ["ad", "be", "cf"]),
        (.right, ["da", "eb", "fc"]),
        (.rightMirrored, ["fc", "eb", "da"]),
        (.left, ["cf", "be", "ad"]),
    ]

    @Test(arguments: upright)
    func `an upright image is the stored one, rotated`(orientation: ImageOrientation, expected: [String]) throws {
        let stored = try gray(["abc", "def"])

        let upright = try stored.upright(from: orientation)

        #expect(rows(of: upright) == expected)
        #expect(upright.size.width == expected[0].utf8.count)
        #expect(orientation.swapsSides == (expected.count == 3))
    }

    @Test(arguments: PixelFormat.allCases, ImageOrientation.allCases)
    func `every pixel format rotates whole pixels`(format: PixelFormat, orientation: ImageOrientation) throws {
        let size = PixelSize(width: 19, height: 5)
        let stored = try #require(
            PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, stride in
                for y in 0..<size.height {
                    for x in 0..<size.width * format.bytesPerPixel {
                        memory[y * stride + x] = UInt8(truncatingIfNeeded: x * 3 + y * 61)
                    }
                }
            })

        let upright = try stored.upright(from: orientation)

        for y in 0..<upright.height {
            for x in 0..<upright.width {
                let from = Self.source(orientation, x: x, y: y, in: size)
                #expect(pixel(upright, x, y) == pixel(stored, from.x, from.y))
            }
        }
    }

    @Test(arguments: ImageOrientation.allCases)
    func `one pixel and one column survive any rotation`(orientation: ImageOrientation) throws {
        #expect(rows(of: try gray(["a"]).upright(from: orientation)) == ["a"])
        let column = rows(of: try gray(["a", "b", "c"]).upright(from: orientation))
        #expect(column.joined() == "abc" || column.joined() == "cba")
        #expect(column.count == (orientation.swapsSides ? 1 : 3))
    }

    @Test func `raw values are those of EXIF`() {
        #expect(ImageOrientation.allCases.map(\.rawValue) == Array(1...8))
        #expect(ImageOrientation(rawValue: 6) == .right)
    }

    /// The inverse, from the words of the standard: 6 is "0th row at the right, 0th column at the top", and so on.
    private static func source(
        _ orientation: ImageOrientation, x: Int, y: Int, in size: PixelSize
    ) -> (x: Int, y: Int) {
        let rowFromTop: Int
        let columnFromLeft: Int
        switch orientation {
        case .up: (columnFromLeft, rowFromTop) = (x, y)
        case .upMirrored: (columnFromLeft, rowFromTop) = (size.width - 1 - x, y)
        case .down: (columnFromLeft, rowFromTop) = (size.width - 1 - x, size.height - 1 - y)
        case .downMirrored: (columnFromLeft, rowFromTop) = (x, size.height - 1 - y)
        case .leftMirrored: (columnFromLeft, rowFromTop) = (y, x)
        case .right: (columnFromLeft, rowFromTop) = (y, size.height - 1 - x)
        case .rightMirrored: (columnFromLeft, rowFromTop) = (size.width - 1 - y, size.height - 1 - x)
        case .left: (columnFromLeft, rowFromTop) = (size.width - 1 - y, x)
        }
        return (columnFromLeft, rowFromTop)
    }

    private func gray(_ rows: [String]) throws -> PixelBuffer {
        let size = PixelSize(width: rows[0].utf8.count, height: rows.count)
        return try #require(
            PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, stride in
                for (y, row) in rows.enumerated() {
                    for (x, byte) in row.utf8.enumerated() { memory[y * stride + x] = byte }
                }
            })
    }

    private func rows(of buffer: PixelBuffer) -> [String] {
        (0..<buffer.height).map { y in
            buffer.withUnsafeBytes { bytes in
                String(decoding: bytes[y * buffer.bytesPerRow..<y * buffer.bytesPerRow + buffer.width], as: UTF8.self)
            }
        }
    }

    private func pixel(_ buffer: PixelBuffer, _ x: Int, _ y: Int) -> [UInt8] {
        let start = y * buffer.bytesPerRow + x * buffer.format.bytesPerPixel
        return buffer.withUnsafeBytes { Array($0[start..<start + buffer.format.bytesPerPixel]) }
    }
}

import AlcedoCore
import FoundationEssentials
import Testing

@Suite struct PixelBufferTests {
    private static let sizes = [
        PixelSize(width: 1, height: 1), PixelSize(width: 15, height: 3), PixelSize(width: 16, height: 2),
        PixelSize(width: 17, height: 5), PixelSize(width: 64, height: 1), PixelSize(width: 65, height: 2),
    ]

    @Test(arguments: PixelFormat.allCases, sizes)
    func `rows are aligned to 64 bytes and hold their pixels`(format: PixelFormat, size: PixelSize) throws {
        let buffer = try #require(PixelBuffer(size: size, format: format, alphaMode: .opaque))

        #expect(buffer.bytesPerRow % PixelBuffer.rowAlignment == 0)
        #expect(buffer.bytesPerRow >= buffer.usedBytesPerRow)
        #expect(buffer.bytesPerRow < buffer.usedBytesPerRow + PixelBuffer.rowAlignment)
        #expect(buffer.usedBytesPerRow == size.width * format.bytesPerPixel)
        #expect(buffer.byteCount == buffer.bytesPerRow * size.height)
        #expect(buffer.byteCount == PixelBuffer.byteCount(size: size, format: format))
        #expect(buffer.withUnsafeBytes { Int(bitPattern: $0.baseAddress) % 64 } == 0)
        #expect(buffer.bytes.byteCount == buffer.byteCount)
        #expect(buffer.row(size.height - 1).byteCount == buffer.usedBytesPerRow)
    }

    @Test func `padding is cleared after the caller has overwritten it`() throws {
        let size = PixelSize(width: 5, height: 4)
        let buffer = try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, _ in
                memory.initializeMemory(as: UInt8.self, repeating: 0xAB)
            })

        let bytes = buffer.withUnsafeBytes { Array($0) }
        for (offset, byte) in bytes.enumerated() {
            #expect(byte == (offset % buffer.bytesPerRow < 20 ? 0xAB : 0))
        }
    }

    @Test func `a new buffer is zero everywhere`() throws {
        let buffer = try #require(
            PixelBuffer(size: PixelSize(width: 33, height: 7), format: .rgba16, alphaMode: .straight))
        #expect(buffer.withUnsafeBytes { $0.allSatisfy { $0 == 0 } })
    }

    @Test func `changing a copy keeps the original`() throws {
        let original = try #require(
            PixelBuffer(size: PixelSize(width: 4, height: 2), format: .gray8, alphaMode: .opaque))
        var copy = original
        let reinterpreted = original.reinterpreted(as: .premultiplied)

        copy.withUnsafeMutableBytes { $0[0] = 9 }

        #expect(original.withUnsafeBytes { $0[0] } == 0)
        #expect(reinterpreted.withUnsafeBytes { $0[0] } == 0)
        #expect(copy.withUnsafeBytes { $0[0] } == 9)
        #expect(copy != original)
    }

    @Test func `a uniquely referenced buffer is changed in place`() throws {
        var buffer = try #require(
            PixelBuffer(size: PixelSize(width: 4, height: 2), format: .gray8, alphaMode: .opaque))
        let before = buffer.withUnsafeBytes { $0.baseAddress }

        let during = buffer.withUnsafeMutableBytes { UnsafeRawPointer($0.baseAddress) }

        #expect(before == during)
    }

    @Test func `a weak reference does not find changed pixels`() throws {
        var buffer = try #require(
            PixelBuffer(size: PixelSize(width: 4, height: 2), format: .gray8, alphaMode: .opaque))
        let find = try #require(DecodedImage(pixels: buffer).weakReference)
        #expect(find()?.pixels == buffer)

        let before = buffer.withUnsafeBytes { $0.baseAddress }
        buffer.withUnsafeMutableBytes { bytes in
            bytes[0] = 9
            #expect(UnsafeRawPointer(bytes.baseAddress) != before)
            #expect(find() == nil)
        }

        #expect(find() == nil)
        #expect(buffer.withUnsafeBytes { $0[0] } == 9)
    }

    @Test(arguments: [
        PixelSize(width: 0, height: 1), PixelSize(width: 1, height: 0), PixelSize(width: -1, height: -1),
        PixelSize(width: -5, height: 5), PixelSize(width: .min, height: .min), PixelSize(width: .max, height: 1),
        PixelSize(width: .max, height: .max), PixelSize(width: 1 << 31, height: 1 << 31),
        PixelSize(width: 1, height: .max), PixelSize(width: .max / 4, height: 1),
        PixelSize(width: .max - 63, height: 1),
    ])
    func `a size that cannot be allocated makes no buffer`(size: PixelSize) {
        #expect(PixelBuffer.byteCount(size: size, format: .rgba8) == nil)
        #expect(PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) == nil)
    }

    @Test func `an initializer that throws makes no buffer`() {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try PixelBuffer(size: PixelSize(width: 2, height: 2), format: .gray8, alphaMode: .opaque) { _, _ in
                throw Failure()
            }
        }
    }

    @Test func `equality compares pixels, not padding`() throws {
        let size = PixelSize(width: 3, height: 2)
        let a = try #require(PixelBuffer(size: size, format: .gray8, alphaMode: .opaque))
        var b = a
        b.withUnsafeMutableBytes { $0[3] = 77 }
        #expect(a == b)

        b.withUnsafeMutableBytes { $0[2] = 77 }
        #expect(a != b)
        #expect(a != a.reinterpreted(as: .straight))
    }

    @Test func `the cost is the memory that an image occupies`() throws {
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 1, height: 3), format: .rgba8, alphaMode: .opaque))
        var image = DecodedImage(pixels: pixels)
        #expect(image.cost == 3 * 64)

        image.colorProfile = .init(count: 100)
        #expect(image.cost == 3 * 64 + 100)

        let decoder = SyntheticAnimation(random: 1, count: 2)
        let animation = CompositedAnimation(
            decoder.layout, decoder: decoder, orientation: .up, options: DecodingOptions())
        image.frames = animation
        #expect(animation.cost > 77)
        #expect(image.cost == 3 * 64 + 100 + animation.cost)
    }

    @Test func `memory that the system does not have is refused without a trap`() {
        // Sixteen exabytes can be counted and not allocated.
        let size = PixelSize(width: 1 << 30, height: 1 << 30)

        #expect(PixelBuffer.byteCount(size: size, format: .rgba8) != nil)
        #expect(PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) == nil)
    }
}

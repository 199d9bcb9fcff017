import AlcedoCore
import Testing

@Suite struct DecodingLimitsTests {
    private func code(_ size: PixelSize, _ limits: DecodingLimits) -> ImageDecodingError.Code? {
        do {
            try limits.check(size, format: .rgba8)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a frame of exactly the limits is allowed, and not a pixel more`() {
        let limits = DecodingLimits(maximumPixelCount: 100)
        #expect(code(PixelSize(width: 10, height: 10), limits) == nil)
        #expect(code(PixelSize(width: 101, height: 1), limits) == .exceedsLimit)
    }

    @Test func `row padding counts toward the limit`() {
        // Ten rows of one pixel occupy ten times 64 bytes.
        #expect(code(PixelSize(width: 1, height: 10), DecodingLimits(maximumByteCount: 640)) == nil)
        #expect(code(PixelSize(width: 1, height: 10), DecodingLimits(maximumByteCount: 639)) == .exceedsLimit)
    }

    @Test func `very long rows count with the memory that their processing needs`() {
        #expect(code(PixelSize(width: 13_000_000, height: 7), DecodingLimits()) == nil)
        for size in [PixelSize(width: 50_000_000, height: 2), PixelSize(width: 2, height: 50_000_000)] {
            #expect(code(size, DecodingLimits()) == .exceedsLimit)
            #expect(code(size, DecodingLimits(maximumByteCount: 4 << 30)) == nil)
        }
    }

    @Test func `sides below one are corrupt`() {
        #expect(code(PixelSize(width: 0, height: 10), DecodingLimits()) == .corrupt)
        #expect(code(PixelSize(width: 10, height: -1), DecodingLimits()) == .corrupt)
    }

    @Test func `sizes that overflow exceed every limit`() {
        let none = DecodingLimits(maximumPixelCount: .max, maximumByteCount: .max)
        #expect(code(PixelSize(width: .max, height: .max), none) == .exceedsLimit)
        #expect(code(PixelSize(width: .max, height: 1), none) == .exceedsLimit)
    }

    @Test(arguments: [
        PixelSize(width: .max, height: .max), PixelSize(width: 4_000_000_000, height: 4_000_000_000),
        PixelSize(width: Int.max / 8, height: 1),
    ])
    func `a message shows no limit as the largest integer`(size: PixelSize) {
        let none = DecodingLimits(maximumPixelCount: .max, maximumByteCount: .max)
        let small = DecodingLimits(maximumPixelCount: .max, maximumByteCount: 1 << 20)
        let animation = AnimationLayout(canvas: size, frames: [], playCount: nil)
        let errors = [
            #expect(throws: ImageDecodingError.self) { try none.check(size, format: .rgba16) },
            #expect(throws: ImageDecodingError.self) { try small.check(size, format: .rgba16) },
            #expect(throws: ImageDecodingError.self) { try small.check(animation) },
        ]
        for error in errors {
            let message = (error?.message ?? "").replacing("\(size)", with: "")
            #expect(message.contains("the limit is "))
            #expect(!message.contains("\(Int.max)"))
        }
    }

    @Test func `the message names the size and the limit`() {
        let error = #expect(throws: ImageDecodingError.self) {
            try DecodingLimits(maximumPixelCount: 5).check(PixelSize(width: 3, height: 2), format: .gray8)
        }
        #expect(error?.message == "3 x 2 pixels exceed the limit of 5 pixels (DecodingLimits.maximumPixelCount)")
    }

    @Test func `the message names the bytes with their padding and the limit`() {
        let error = #expect(throws: ImageDecodingError.self) {
            try DecodingLimits(maximumByteCount: 127).check(PixelSize(width: 3, height: 2), format: .rgba8)
        }
        let size = "3 x 2 pixels need 128 bytes with row padding"
        #expect(error?.message == "\(size); the limit is 127 bytes (DecodingLimits.maximumByteCount)")
    }

    @Test func `the number of frames may equal the limit and not exceed it`() throws {
        let limits = DecodingLimits(maximumFrameCount: 3)
        for count in 0...3 { try limits.check(frameCount: count) }
        for count in [4, Int.max] {
            let limit = "the limit is 3 (DecodingLimits.maximumFrameCount)"
            let error = ImageDecodingError(.exceedsLimit, "the animation has at least \(count) frames; \(limit)")
            #expect(throws: error) { try limits.check(frameCount: count) }
        }
        try DecodingLimits().check(frameCount: 10_000)
        #expect(throws: ImageDecodingError.self) { try DecodingLimits().check(frameCount: 10_001) }
    }
}

import AlcedoCore
import AlcedoPlaceholders
import AlcedoTesting
import AlcedoViewBinding
import Foundation
import TestSupport
import Testing

@Suite struct HashInputTests {
    @Test(arguments: [
        "", "AAAA", "!!!!", "3OcRJYB4d3h/iIeHeEh3eIhw+g==", "3OcRJYB4d3h/iIeHeEh3eIhw+j3A_", "1 2 3 4 5 6 7",
        "3OcR=JYB4d3h/iIeHeEh3eIhw+j3A", "3OcRJYB4d3h/iIeHeEh3eIhw+j3A=", "2fcZFIB3iId/h3iJh4aIYJ2V8g=",
    ])
    func `an invalid ThumbHash is nil`(text: String) {
        #expect(ThumbHash(base64: text) == nil)
    }

    @Test(arguments: [
        "", "0", "00Hewc0", "L", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdn\"", "~0Hewc",
    ])
    func `an invalid BlurHash is nil`(text: String) {
        #expect(BlurHash(text) == nil)
    }

    @Test func `every header of a ThumbHash gives a small image`() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...70, using: &random)
            let bytes = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            guard let hash = ThumbHash(bytes: bytes) else { continue }
            let size = hash.image?.size ?? PixelSize(width: 0, height: 0)
            #expect((4...32).contains(size.width))
            #expect((4...32).contains(size.height))
            #expect(hash.aspectRatio >= 1.0 / 7)
            #expect(hash.aspectRatio <= 7)
        }
    }

    @Test func `every BlurHash of a valid length gives an image`() {
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
        var random = SplitMix64(seed: 6)
        for flag in 0..<81 {
            // The first digit declares the number of components in each direction.
            let count = 3 + 2 * (flag % 9 + 1) * (flag / 9 + 1)
            let others = (0..<count).map { _ in digits[Int.random(in: 0..<83, using: &random)] }
            let hash = BlurHash(String([digits[flag]] + others))
            #expect(hash?.image(width: 3, height: 2)?.size == PixelSize(width: 3, height: 2), "\(flag)")
        }
    }

    @Test func `a slice of other data is a hash`() throws {
        let bytes = try #require(ThumbHash(base64: "1QcSHQRnh493V4dIh4eXh1h4kJUI")).bytes
        let slice = (Data([1, 2]) + bytes).dropFirst(2)

        #expect(ThumbHash(bytes: slice)?.base64 == "1QcSHQRnh493V4dIh4eXh1h4kJUI")
    }

    @Test func `the sides of a BlurHash image are clamped`() throws {
        let hash = try #require(BlurHash("00Hewc"))

        #expect(hash.image(width: 0, height: -9)?.size == PixelSize(width: 1, height: 1))
        #expect(hash.image(width: 1, height: 1 << 40)?.size == PixelSize(width: 1, height: 1024))
    }

    @Test @MainActor func `a view shows the image of a hash until the image is loaded`() async throws {
        let view = RecordingView()
        let loaded = DecodedImage.gray(side: 8)
        let binder = ImageBinder(
            view: view, pipeline: FakeImageLoader { _, _ in ImageResponse(image: loaded, layer: .network) })
        let hash = "3OcRJYB4d3h/iIeHeEh3eIhw+j3A"
        let request = ImageRequest(source: .bytes(Data([1]), identity: "a"))

        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            binder.load(request, options: BindingOptions(placeholder: ThumbHash(base64: hash)?.image)) { _ in
                done.resume()
            }
        }

        #expect(view.sizes == [PixelSize(width: 32, height: 23), PixelSize(width: 8, height: 8)])
    }
}

/// Records the sizes of the images that it shows.
@MainActor private final class RecordingView: ImageDisplaying {
    private(set) var sizes: [PixelSize] = []

    func display(_ content: DisplayContent) { if let size = content.image?.size { sizes.append(size) } }
}

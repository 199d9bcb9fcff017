import AlcedoCore
import AlcedoPNG
import AlcedoProcessing
import FoundationEssentials
import Testing

/// Comparison with results of Pillow, ImageMagick, cairo and libvips. `Tests/Processing/Golden/make-golden` creates the
/// files.
@Suite struct GoldenTests {
    private let cases: [GoldenCase]

    init() throws {
        cases = GoldenCase.all(
            upper: try Self.makePixels("upper"), clear: try Self.makePixels("clear"),
            mirrored: try Self.makePixels("pillow-flipLeftRight"),
            small: try Self.makePixels("pillow-resize-clear-lanczos3"))
    }

    @Test func `every image is within its tolerance`() throws {
        for golden in cases {
            let expected = try Self.makePixels(golden.file)
            let source = DecodedImage(pixels: try Self.makePixels(golden.source))

            let result = try golden.processor.process(source).pixels

            #expect(result.size == expected.size, "\(golden.file)")
            guard result.size == expected.size else { continue }
            let largest = Self.largestDifference(result, expected, margin: golden.margin)
            #expect(largest <= golden.tolerance, "\(golden.file)")
        }
    }

    @Test func `every golden image is used by a test case`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.directory).filter { $0.hasSuffix(".png") }

        let known = cases.flatMap { [$0.file, $0.source] } + ["upper"]

        #expect(Set(files) == Set(known.map { $0 + ".png" }))
    }

    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Golden").path

    /// Gray as gray, everything else as straight RGBA.
    private static func makePixels(_ name: String) throws -> PixelBuffer {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name).png"))
        return try PNGDecoder().decode(data, options: DecodingOptions(pixelFormat: .gray8)).pixels
    }

    private static func largestDifference(_ a: PixelBuffer, _ b: PixelBuffer, margin: Int) -> Int {
        let (one, other) = (a.converted(to: .premultiplied), b.converted(to: .premultiplied))
        return one.positions.reduce(0) { largest, place in
            guard margin == 0 || isInside(one, place, margin) && isInside(other, place, margin) else { return largest }
            let (p, q) = (one.pixel(place.x, place.y), other.pixel(place.x, place.y))
            return (0..<4).reduce(largest) { max($0, abs(Int(p[$1]) - Int(q[$1]))) }
        }
    }

    /// Returns whether a position is at least `margin` from the edges, and is opaque at that distance in eight
    /// directions.
    private static func isInside(_ pixels: PixelBuffer, _ place: (x: Int, y: Int), _ margin: Int) -> Bool {
        guard place.x >= margin, place.y >= margin, place.x + margin < pixels.width, place.y + margin < pixels.height
        else { return false }
        return [-margin, 0, margin].allSatisfy { dy in
            [-margin, 0, margin].allSatisfy { dx in pixels.pixel(place.x + dx, place.y + dy).w == 255 }
        }
    }
}

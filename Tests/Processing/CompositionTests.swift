import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct CompositionTests {
    private let a = ImageProcessors.Resize(to: PixelSize(width: 5, height: .max))
    private let b = ImageProcessors.Grayscale()
    private let c = ImageProcessors.Flip(.topAndBottom)

    @Test func `composition is associative`() {
        let flat: ImageProcessors.BuiltIn = .composition([a, b, c])
        let groups: [ImageProcessors.BuiltIn] = [
            .composition([ImageProcessors.Composition([a, b]), c]), .composition([.composition([a, b]), c]),
            .composition([a, .composition([b, c])]),
            .composition([.composition([.composition([.composition([a])]), b, .composition([])]), c]),
        ]

        for group in groups {
            #expect(group.identifier == flat.identifier)
            #expect((group.unwrapped as? ImageProcessors.Composition)?.processors.count == 3)
        }
    }

    /// A combination of processors of an app.
    private struct Pair: ImageProcessing {
        let first: any ImageProcessing
        let second: any ImageProcessing

        var identifier: String { ImageProcessors.Composition(components).identifier }
        var components: [any ImageProcessing] { [first, second] }

        func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try second.process(first.process(image))
        }
    }

    @Test func `a combination of processors of an app is flattened as well`() {
        let flat: ImageProcessors.BuiltIn = .composition([a, b, c])

        #expect(ImageProcessors.Composition([Pair(first: a, second: b), c]).identifier == flat.identifier)
        #expect(flat.components.map(\.identifier) == [a.identifier, b.identifier, c.identifier])
    }

    @Test func `different lists have different identifiers`() {
        let closures = ["a", "b", "a|1:b", "1:a", "", ")", "a|"].map { name in
            ImageProcessors.Closure(identifier: name) { $0 }
        }
        var lists: [[ImageProcessors.Closure]] = [[]]
        for _ in 0..<3 { lists += lists.flatMap { list in closures.map { list + [$0] } } }

        let names = Set(lists.map { $0.map(\.identifier) })

        #expect(Set(lists.map { ImageProcessors.Composition($0).identifier }).count == names.count)
    }

    @Test func `a composition applies its processors in order`() throws {
        for (format, mode) in ResizeTests.shapes {
            let image = DecodedImage(pixels: .noise(12, 8, format, mode, seed: 3))

            let result = try ImageProcessors.Composition([a, b, c]).process(image)

            #expect(try result.pixels == c.process(b.process(a.process(image))).pixels)
        }
    }

    @Test func `the first error ends a composition`() {
        let image = DecodedImage(pixels: .pattern(.gray8))
        let never = ImageProcessors.Closure(identifier: "never") { image in
            Issue.record("worked after a failure")
            return image
        }

        #expect(throws: ImageProcessingError(.invalidParameter, "invalid target size: 0 x 0 pixels")) {
            try ImageProcessors.Composition([.resize(fitting: PixelSize(width: 0, height: 0)), never]).process(image)
        }
    }
}

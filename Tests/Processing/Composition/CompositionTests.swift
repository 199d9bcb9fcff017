import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct CompositionTests {
    private let a = Resize(width: 5)
    private let b = BlackAndWhite()
    private let c = Flip(.topAndBottom)

    @Test func `grouping does not matter`() {
        let flat = Composition(a, b, c)
        let groups = [
            Composition(Composition(a, b), c), Composition(a, Composition(b, c)), Composition(a).then(b).then(c),
            Composition(Composition(Composition(Composition(a)), b, Composition()), c),
        ]

        for group in groups {
            #expect(group == flat && group.identifier == flat.identifier && group.processors.count == 3)
        }
        #expect(Set(groups + [flat]).count == 1)
    }

    @Test func `lists that differ have identifiers that differ`() {
        let closures = ["a", "b", "a|1:b", "1:a", "", ")", "a|"].map { name in
            ClosureProcessor(identifier: name) { $0 }
        }
        var lists: [[ClosureProcessor]] = [[]]
        for _ in 0..<3 { lists += lists.flatMap { list in closures.map { list + [$0] } } }

        let names = Set(lists.map { $0.map(\.identifier) })

        #expect(Set(lists.map { Composition($0).identifier }).count == names.count)
    }

    @Test func `a composition is one processor after another`() throws {
        for (format, mode) in ResizeTests.shapes {
            let image = DecodedImage(pixels: .noise(12, 8, format, mode, seed: 3))

            let result = try Composition(a, b, c).process(image)

            #expect(try result.pixels == c.process(b.process(a.process(image))).pixels)
        }
    }

    @Test func `the first failure ends it`() {
        let image = DecodedImage(pixels: .pattern(.gray8))
        let never = ClosureProcessor(identifier: "never") { image in
            Issue.record("worked after a failure")
            return image
        }

        #expect(throws: ImageProcessingError(.invalidParameter, "cannot resize to 0 x 0 pixels")) {
            try Composition(Resize(to: PixelSize(width: 0, height: 0)), never).process(image)
        }
    }
}

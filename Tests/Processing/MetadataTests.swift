import AlcedoCore
import AlcedoProcessing
import FoundationEssentials
import Testing

@Suite struct MetadataTests {
    static let processors: [any ImageProcessing] = [
        Resize(to: PixelSize(width: 3, height: 2)), Resize(to: PixelSize(width: 90, height: 90)),
        Crop(centre: PixelSize(width: 2, height: 2)), Crop(centre: PixelSize(width: 99, height: 99)), Flatten(),
    ]

    @Test(arguments: processors.indices)
    func `profile, orientation, scale, format and damage are kept and an animation is dropped`(index: Int) throws {
        let pixels = PixelBuffer.pattern(.rgba8)
        let image = DecodedImage(
            pixels: pixels, colorProfile: Data([1, 2, 3]), orientation: .right, scale: 2, format: .gif,
            frames: OneFrame(buffer: pixels), damage: ImageDecodingError(.truncated, "cut"))

        let result = try Self.processors[index].process(image)

        #expect(result.colorProfile == Data([1, 2, 3]))
        #expect(result.orientation == .right)
        #expect(result.scale == 2)
        #expect(result.format == .gif)
        #expect(result.frames == nil)
        #expect(result.damage == image.damage && result.isPartial)
        #expect(result.pixels.format == .rgba8)
    }

    @Test func `identifiers name every parameter and stay as they are`() {
        let size = PixelSize(width: 400, height: 300)
        let black = Flatten(onto: .black)
        let table: [(any ImageProcessing, String)] = [
            (Resize(to: size), "resize:400x300,fit,lanczos3"),
            (Resize(to: size, mode: .fill, enlarges: true, filter: .box), "resize:400x300,fill,box,enlarge"),
            (Resize(to: size, mode: .exact, filter: .catmullRom), "resize:400x300,exact,catmullRom"),
            (Resize(to: size, filter: .bilinear), "resize:400x300,fit,bilinear"),
            (Crop(PixelRect(x: -1, y: 2, width: 3, height: 4)), "crop:-1,2,3x4"),
            (Crop(centre: size), "crop:centre,400x300"),
            (Crop(centreAspect: PixelSize(width: 16, height: 9)), "crop:centre,16:9"),
            (Flatten(), "flatten:ffffff"), (black, "flatten:000000"),
            (Flatten(onto: OpaqueColor(red: 1, green: 171, blue: 16)), "flatten:01ab10"),
            (ClosureProcessor(identifier: "mine") { $0 }, "mine"),
        ]

        for (processor, identifier) in table { #expect(processor.identifier == identifier) }
        #expect(Set(table.map { $0.0.identifier }).count == table.count)
    }

    @Test func `a closure's image and error are passed on`() throws {
        let image = DecodedImage(pixels: .pattern(.gray8))
        let halved = ClosureProcessor(identifier: "scale") { image in
            var result = image
            result.scale = 0.5
            return result
        }
        let failing = ClosureProcessor(identifier: "fail") { _ throws(ImageProcessingError) in
            throw ImageProcessingError(.unsupportedFormat, "no")
        }

        #expect(try halved.process(image).scale == 0.5)
        #expect(throws: ImageProcessingError(.unsupportedFormat, "no")) { try failing.process(image) }
    }
}

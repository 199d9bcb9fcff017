import AlcedoCore
import AlcedoProcessing
import FoundationEssentials
import TestSupport
import Testing

@Suite struct MetadataTests {
    /// The processors that keep the format of straight RGBA, the orientation, and no animation.
    static let processors = AllProcessors.list.filter {
        let processor = $0.unwrapped
        return
            !(processor is ImageProcessors.Orient || processor is ImageProcessors.Flatten
            || processor is ImageProcessors.EveryFrame || processor is ImageProcessors.StillImagesOnly
            || processor is ImageProcessors.Closure)
    }

    @Test(arguments: processors.indices)
    func `profile, orientation, scale, format and damage are kept, and a single frame is not`(index: Int) throws {
        let pixels = PixelBuffer.pattern(.rgba8)
        let image = DecodedImage(
            pixels: pixels, colorProfile: Data([1, 2, 3]), orientation: .right, scale: 2, format: .gif,
            frames: MadeFrames(pixels.size, [(pixels, .milliseconds(100))]),
            damage: ImageDamage(.wrongPixels, ImageDecodingError(.corrupt, "a wrong bit")))

        let result = try Self.processors[index].process(image)

        #expect(result.colorProfile == Data([1, 2, 3]))
        #expect(result.orientation == .right)
        #expect(result.scale == 2)
        #expect(result.format == .gif)
        #expect(result.frames == nil)
        #expect(result.damage == image.damage)
        #expect(result.damage?.kind == .wrongPixels)
        #expect(result.pixels.format == .rgba8)
    }

    @Test func `identifiers name every parameter and are stable`() {
        let size = PixelSize(width: 400, height: 300)
        let black = ImageProcessors.Flatten(onto: .black)
        let table: [(any ImageProcessing, String)] = [
            (.resize(fitting: size), "resize3:400x300,fit,lanczos3"),
            (
                .resize(filling: size, enlarges: true, sampling: ResizeSampling(.box)),
                "resize3:400x300,fill,box,enlarge"
            ),
            (.resize(exactly: size, sampling: ResizeSampling(.catmullRom)), "resize3:400x300,exact,catmullRom"),
            (.resize(fitting: size, sampling: ResizeSampling(.bilinear)), "resize3:400x300,fit,bilinear"),
            (.crop(x: -1, y: 2, width: 3, height: 4), "crop:-1,2,3x4"),
            (.crop(to: size), "crop:centre,400x300"),
            (.crop(to: size, at: .at(x: 0.25, y: 1)), "crop:0.25;1.0,400x300"),
            (.crop(aspect: PixelSize(width: 16, height: 9)), "crop:centre,16:9"),
            (.flatten(), "flatten:ffffff"), (black, "flatten:000000"),
            (.flatten(onto: PixelColor(red: 1, green: 171, blue: 16)), "flatten:01ab10"),
            (.closure(identifier: "mine") { $0 }, "mine"),
            (.pixelClosure(identifier: "pixels") { $0 }, "pixels"),
            (.crop(to: size, at: .topLeft), "crop:0.0;0.0,400x300"),
            (.crop(aspect: PixelSize(width: 4, height: 3), at: .bottom), "crop:0.5;1.0,4:3"),
            (.orient, "orient"), (.flip(.leftAndRight), "flip:leftAndRight"),
            (.flip(.topAndBottom), "flip:topAndBottom"),
            (.rotate(clockwise: 12.5, background: .white), "rotate:12.5,ffffffff"),
            (ImageProcessors.Rotate(clockwise: -90), "rotate:-90.0,00000000"), (.circle(), "circle"),
            (.circle(border: ImageProcessors.Border(width: 2, color: .black)), "circle:border:2.0,000000ff"),
            (.roundedCorners(radius: 8), "corners:8.0;8.0;8.0;8.0,pixels"),
            (
                .roundedCorners(
                    CornerRadii(topLeft: 0.5, topRight: 0.25, unit: .shorterSide),
                    border: ImageProcessors.Border(width: 1, color: PixelColor(red: 1, green: 2, blue: 3, alpha: 4))),
                "corners:0.5;0.25;0.0;0.0,shorterSide,border:1.0,01020304"
            ),
            (.blur(sigma: 2.5), "blur:2.5"),
            (.adjust(brightness: 1.5, saturation: 0), "color:1.5,1.0,0.0"), (.grayscale, "blackandwhite"),
            (.negate(), "negate"), (.negate(includesAlpha: true), "negate:alpha"),
            (.threshold(), "threshold:128"), (.threshold(10, perChannel: true), "threshold:10,channels"),
            (.gamma(), "gamma:2.2"), (.normalize(), "normalize:1.0,99.0"),
            (.normalize(lower: 0, upper: 50.5), "normalize:0.0,50.5"), (.median(), "median:3"),
            (.median(size: 5), "median:5"), (.sharpen(sigma: 0.5), "sharpen:0.5,1.0,2.0,2.0,10.0,20.0"),
            (
                .sharpen(sigma: 1, flat: 2, jagged: 3, threshold: 4, brightening: 5, darkening: 6),
                "sharpen:1.0,2.0,3.0,4.0,5.0,6.0"
            ),
            (
                .tint(PixelColor(red: 255, green: 255, blue: 255, alpha: 10), mode: .softLight),
                "tint:ffffff0a,softLight"
            ),
            (
                .overlay(PixelBuffer.pattern(.gray8), at: .bottomRight, x: -4, y: 3, opacity: 0.5),
                "overlay:23x17,gray8,opaque,"
                    + "25e2c905ab3f1d4a905c394cef4a350f8fb2077db645f3df8a69d6bcf04c8af9,1.0;1.0,-4;3,normal,0.5"
            ),
            (.overlay([]), "overlay:"),
            (
                .overlay([
                    .init(
                        PixelBuffer.pattern(.gray8), x: 1, scale: .factor(0.25), isTiled: true, mode: .screen,
                        compositing: .xor),
                    .init(PixelBuffer.pattern(.gray8), at: .top, scale: .share(0.5)),
                ]),
                "overlay:23x17,gray8,opaque,"
                    + "25e2c905ab3f1d4a905c394cef4a350f8fb2077db645f3df8a69d6bcf04c8af9,0.5;0.5,1;0,screen,1.0,"
                    + "resize3:0.25,tiled,xor|23x17,gray8,opaque,"
                    + "25e2c905ab3f1d4a905c394cef4a350f8fb2077db645f3df8a69d6bcf04c8af9,0.5;0.0,0;0,normal,1.0,"
                    + "resize3:share 0.5"
            ),
            (.composition([]), "then()"), (.composition([.flatten(), .orient]), "then(14:flatten:ffffff|6:orient)"),
            (.everyFrame(.orient), "everyframe(orient)"), (.stillImagesOnly(.orient), "stillsonly(orient)"),
            (.firstFrame, "firstframe"),
        ]

        for (processor, identifier) in table { #expect(processor.identifier == identifier) }
        #expect(Set(table.map { $0.0.identifier }).count == table.count)
    }

    @Test(arguments: [(370.0, 10.0), (360, 0), (-360, 0), (-450, -90), (722.5, 2.5), (1e300, 0)])
    func `full turns do not change the identifier of a rotation`(angle: Double, rest: Double) throws {
        let rotation = ImageProcessors.Rotate(clockwise: angle)
        let image = DecodedImage(pixels: .pattern(.rgba8))

        #expect(rotation.identifier == "rotate:\(rest),00000000")
        #expect(rotation.identifier == ImageProcessors.Rotate(clockwise: rest).identifier)
        #expect(try rotation.process(image).pixels == ImageProcessors.Rotate(clockwise: rest).process(image).pixels)
    }

    @Test func `an angle that is not a number has its own identifier`() {
        let identifiers = [Double.nan, .infinity, -.infinity, 0].map {
            ImageProcessors.Rotate(clockwise: $0).identifier
        }

        #expect(Set(identifiers).count == 4)
    }

    @Test func `leading-dot syntax makes the same processor`() throws {
        let image = DecodedImage(pixels: .pattern(.rgba8))
        let value: ImageProcessors.BuiltIn = .resize(width: 11)
        let processor = ImageProcessors.Resize(to: PixelSize(width: 11, height: .max))

        #expect(value.identifier == processor.identifier)
        #expect(value.decodingTarget == processor.decodingTarget)
        #expect(try value.process(image).pixels == processor.process(image).pixels)
    }

    @Test func `a closure's image and error are returned`() throws {
        let image = DecodedImage(pixels: .pattern(.gray8))
        let halved = ImageProcessors.Closure(identifier: "scale") { image in
            var result = image
            result.scale = 0.5
            return result
        }
        let failing = ImageProcessors.Closure(identifier: "fail") { _ throws(ImageProcessingError) in
            throw ImageProcessingError(.unsupportedFormat, "no")
        }

        #expect(try halved.process(image).scale == 0.5)
        #expect(throws: ImageProcessingError(.unsupportedFormat, "no")) { try failing.process(image) }
    }
}

import AlcedoCore
import AlcedoProcessing

/// The table of tolerances; ``Golden/README.md`` says where they come from.
extension GoldenCase {
    static func all(upper: PixelBuffer, clear: PixelBuffer) -> [GoldenCase] {
        resizing + blurring + turning + coloring + shapes + blending(upper: upper, clear: clear)
    }

    private static let small = PixelSize(width: 37, height: 29)

    private static var resizing: [GoldenCase] {
        let whole = { (filter: ResizeFilter) in ResizeSampling(filter, averagesFirst: false) }
        let exact = { (size: PixelSize, sampling: ResizeSampling) in
            Resize(to: size, mode: .exact, enlarges: true, sampling: sampling)
        }
        return ResizeFilter.allCases.flatMap { filter in
            [
                GoldenCase("pillow-resize-\(filter)", exact(small, whole(filter)), within: 1),
                GoldenCase(
                    "pillow-enlarge-\(filter)", exact(PixelSize(width: 131, height: 101), whole(filter)), within: 1),
                GoldenCase("pillow-resize-clear-\(filter)", of: "clear", exact(small, whole(filter)), within: 3),
                GoldenCase("magick-resize-\(filter)", exact(small, whole(filter)), within: 1),
                GoldenCase("magick-resize-clear-\(filter)", of: "clear", exact(small, whole(filter)), within: 3),
            ]
        } + [
            GoldenCase(
                "magick-linear", exact(small, ResizeSampling(.bilinear, inLinearLight: true)), within: 1)
        ]
    }

    private static var blurring: [GoldenCase] {
        ["1.5", "6", "20"].flatMap { sigma in
            let blur = GaussianBlur(sigma: Double(sigma) ?? 0)
            return [
                GoldenCase("pillow-blur-\(sigma)", blur, within: 3, margin: 20),
                GoldenCase("magick-blur-\(sigma)", blur, within: 3),
            ]
        } + [GoldenCase("magick-blur-clear-3", of: "clear", GaussianBlur(sigma: 3), within: 2)]
    }

    private static var turning: [GoldenCase] {
        let middle = Crop(center: PixelSize(width: 96, height: 72))
        return [
            GoldenCase("magick-rotate-31", Composition(Rotate(clockwise: 31), middle), within: 1, margin: 2),
            GoldenCase("magick-rotate-201", Composition(Rotate(clockwise: 201), middle), within: 1, margin: 2),
            GoldenCase("pillow-flipLeftRight", of: "clear", Flip(.leftAndRight), within: 0),
            GoldenCase("pillow-flipTopBottom", of: "clear", Flip(.topAndBottom), within: 0),
            GoldenCase("pillow-clockwise90", of: "clear", Rotate(quarterTurns: 1), within: 0),
            GoldenCase("pillow-clockwise180", of: "clear", Rotate(quarterTurns: 2), within: 0),
            GoldenCase("pillow-clockwise270", of: "clear", Rotate(quarterTurns: 3), within: 0),
            GoldenCase(
                "pillow-transpose", of: "clear", Composition(Rotate(quarterTurns: 1), Flip(.leftAndRight)), within: 0),
            GoldenCase(
                "pillow-transverse", of: "clear", Composition(Rotate(quarterTurns: 1), Flip(.topAndBottom)), within: 0),
        ]
    }

    private static var coloring: [GoldenCase] {
        [
            GoldenCase("pillow-brightness", ColorAdjustment(brightness: 1.3), within: 1),
            GoldenCase("pillow-contrast", ColorAdjustment(contrast: 1.4), within: 1),
            GoldenCase("pillow-saturation", ColorAdjustment(saturation: 1.6), within: 1),
            GoldenCase("pillow-blackAndWhite", BlackAndWhite(), within: 1),
            GoldenCase("magick-matrix", ColorAdjustment(brightness: 1.2, saturation: 1.6), within: 1),
            GoldenCase(
                "pillow-flatten", of: "clear", Flatten(onto: OpaqueColor(red: 10, green: 200, blue: 30)), within: 1),
        ]
    }

    private static var shapes: [GoldenCase] {
        [
            GoldenCase("magick-circle", Circle(), within: 9),
            GoldenCase("magick-corners", RoundedCorners(CornerRadii(20)), within: 9),
        ]
    }

    private static func blending(upper: PixelBuffer, clear: PixelBuffer) -> [GoldenCase] {
        let pillow: [BlendMode] = [.multiply, .screen, .overlay, .hardLight, .darken, .lighten, .difference]
        let magick = pillow + [.colorDodge, .colorBurn, .softLight, .exclusion]
        // ImageMagick's dodge of white over black is not the specification's.
        let opaque = magick.filter { $0 != .colorDodge }
        return pillow.map {
            GoldenCase("pillow-blend-\($0)", of: "lower", Overlay(upper, mode: $0), within: 1)
        }
            + opaque.map {
                GoldenCase("magick-blend-\($0)", of: "lower", Overlay(upper, mode: $0), within: 1)
            }
            + magick.map {
                GoldenCase("magick-blend-clear-\($0)", Overlay(clear, mode: $0), within: 1)
            } + [GoldenCase("pillow-over", Overlay(clear), within: 1)]
    }
}

import AlcedoCore
import AlcedoProcessing

/// The table of tolerances. ``Golden/README.md`` names their sources.
extension GoldenCase {
    static func all(
        upper: PixelBuffer, clear: PixelBuffer, mirrored: PixelBuffer, small: PixelBuffer
    ) -> [GoldenCase] {
        resizing + blurring + filtering + turning + coloring + tones + shapes + blending(upper: upper, clear: clear)
            + compositing(mirrored) + overlays(clear: clear, small: small)
    }

    private static let small = PixelSize(width: 37, height: 29)

    private static var resizing: [GoldenCase] {
        let exact = { (size: PixelSize, sampling: ResizeSampling) in
            ImageProcessors.Resize(to: size, mode: .exact, enlarges: true, sampling: sampling)
        }
        return ResizeFilter.allCases.flatMap { filter in
            [
                GoldenCase("pillow-resize-\(filter)", exact(small, ResizeSampling(filter)), within: 1),
                GoldenCase(
                    "pillow-enlarge-\(filter)", exact(PixelSize(width: 131, height: 101), ResizeSampling(filter)),
                    within: 1),
                GoldenCase(
                    "pillow-resize-clear-\(filter)", of: "clear", exact(small, ResizeSampling(filter)), within: 3),
                GoldenCase("magick-resize-\(filter)", exact(small, ResizeSampling(filter)), within: 1),
                GoldenCase(
                    "magick-resize-clear-\(filter)", of: "clear", exact(small, ResizeSampling(filter)), within: 3),
            ]
        } + [
            GoldenCase(
                "magick-linear", exact(small, ResizeSampling(.bilinear, inLinearLight: true)), within: 1)
        ]
    }

    private static var blurring: [GoldenCase] {
        ["1.5", "6", "20"].flatMap { sigma in
            let blur = ImageProcessors.GaussianBlur(sigma: Double(sigma) ?? 0)
            return [
                GoldenCase("pillow-blur-\(sigma)", blur, within: 3, margin: 20),
                GoldenCase("magick-blur-\(sigma)", blur, within: 3),
            ]
        } + [GoldenCase("magick-blur-clear-3", of: "clear", .blur(sigma: 3), within: 2)]
    }

    /// A golden image that has one channel.
    private static let gray = "pillow-blackAndWhite"

    private static var filtering: [GoldenCase] {
        [
            GoldenCase("pillow-median-3", .median(size: 3), within: 0),
            GoldenCase("pillow-median-7", .median(size: 7), within: 0),
            GoldenCase("pillow-median-gray-5", of: gray, .median(size: 5), within: 0),
            GoldenCase("vips-median-3", .median(size: 3), within: 0),
            GoldenCase("vips-median-clear-5", of: "clear", .median(size: 5), within: 1),
            GoldenCase("vips-sharpen-0.5", of: gray, .sharpen(sigma: 0.5, flat: 0, jagged: 3), within: 4),
            GoldenCase("vips-sharpen-1", of: gray, .sharpen(sigma: 1), within: 2),
            GoldenCase(
                "vips-sharpen-3", of: gray,
                .sharpen(sigma: 3, flat: 0.5, jagged: 4, threshold: 3, brightening: 15, darkening: 8), within: 4),
        ]
    }

    private static var turning: [GoldenCase] {
        let middle = ImageProcessors.Crop(to: PixelSize(width: 96, height: 72))
        return [
            GoldenCase("magick-rotate-31", .composition([.rotate(clockwise: 31), middle]), within: 1, margin: 2),
            GoldenCase("magick-rotate-201", .composition([.rotate(clockwise: 201), middle]), within: 1, margin: 2),
            GoldenCase("pillow-flipLeftRight", of: "clear", .flip(.leftAndRight), within: 0),
            GoldenCase("pillow-flipTopBottom", of: "clear", .flip(.topAndBottom), within: 0),
            GoldenCase("pillow-clockwise90", of: "clear", ImageProcessors.Rotate(clockwise: 90), within: 0),
            GoldenCase("pillow-clockwise180", of: "clear", ImageProcessors.Rotate(clockwise: 180), within: 0),
            GoldenCase("pillow-clockwise270", of: "clear", ImageProcessors.Rotate(clockwise: 270), within: 0),
            GoldenCase(
                "pillow-transpose", of: "clear",
                .composition([ImageProcessors.Rotate(clockwise: 90), .flip(.leftAndRight)]), within: 0),
            GoldenCase(
                "pillow-transverse", of: "clear",
                .composition([ImageProcessors.Rotate(clockwise: 90), .flip(.topAndBottom)]), within: 0),
        ]
    }

    private static var coloring: [GoldenCase] {
        [
            GoldenCase("pillow-brightness", .adjust(brightness: 1.3), within: 1),
            GoldenCase("pillow-contrast", .adjust(contrast: 1.4), within: 1),
            GoldenCase("pillow-saturation", .adjust(saturation: 1.6), within: 1),
            GoldenCase("pillow-blackAndWhite", .grayscale, within: 1),
            GoldenCase("magick-matrix", .adjust(brightness: 1.2, saturation: 1.6), within: 1),
            GoldenCase(
                "pillow-flatten", of: "clear", .flatten(onto: PixelColor(red: 10, green: 200, blue: 30)), within: 1),
        ]
    }

    private static var tones: [GoldenCase] {
        [
            GoldenCase("pillow-negate", .negate(), within: 0),
            GoldenCase("pillow-negate-alpha", of: "clear", .negate(includesAlpha: true), within: 0),
            GoldenCase("numpy-threshold", .threshold(120), within: 0),
            GoldenCase("vips-threshold-channels", .threshold(120, perChannel: true), within: 0),
            GoldenCase("vips-gamma-2.2", .gamma(2.2), within: 1),
            GoldenCase("vips-gamma-clear-0.6", of: "clear", .gamma(0.6), within: 1),
            GoldenCase("pillow-normalize-gray", of: gray, .normalize(lower: 5, upper: 90), within: 1),
            GoldenCase("numpy-normalize", .normalize(lower: 5, upper: 90), within: 1),
        ]
    }

    private static var shapes: [GoldenCase] {
        [
            GoldenCase("magick-circle", .circle(), within: 9),
            GoldenCase("magick-corners", .roundedCorners(radius: 20), within: 9),
        ]
    }

    private static func blending(upper: PixelBuffer, clear: PixelBuffer) -> [GoldenCase] {
        let pillow: [ImageProcessors.BlendMode] = [
            .multiply, .screen, .overlay, .hardLight, .darken, .lighten, .difference,
        ]
        let magick = pillow + [.colorDodge, .colorBurn, .softLight, .exclusion]
        // ImageMagick's dodge of white over black differs from the specification.
        let opaque = magick.filter { $0 != .colorDodge }
        return pillow.map {
            GoldenCase("pillow-blend-\($0)", of: "lower", .overlay(upper, mode: $0), within: 1)
        }
            + opaque.map {
                GoldenCase("magick-blend-\($0)", of: "lower", .overlay(upper, mode: $0), within: 1)
            }
            + magick.map {
                GoldenCase("magick-blend-clear-\($0)", .overlay(clear, mode: $0), within: 1)
            } + [GoldenCase("pillow-over", .overlay(clear), within: 1)]
    }
    private static func compositing(_ mirrored: PixelBuffer) -> [GoldenCase] {
        let operators = ImageProcessors.CompositingOperator.allCases.map { compositing in
            GoldenCase(
                "cairo-\(compositing)", of: "clear",
                .overlay(mirrored, at: .topLeft, x: 9, y: -7, compositing: compositing), within: 2)
        }
        let separable = ImageProcessors.BlendMode.allCases.filter {
            ![.normal, .hue, .saturation, .color, .luminosity].contains($0)
        }
        return operators
            + separable.map { mode in
                GoldenCase(
                    "cairo-\(mode)", of: "clear", .overlay(mirrored, at: .topLeft, x: 9, y: -7, mode: mode), within: 2)
            }
    }

    private static func overlays(clear: PixelBuffer, small: PixelBuffer) -> [GoldenCase] {
        [
            GoldenCase(
                "cairo-tiled", .overlay(small, at: .bottomRight, isTiled: true, mode: .multiply, opacity: 0.6),
                within: 2),
            GoldenCase(
                "vips-layers",
                .overlay([
                    .init(clear, at: .topLeft, x: 11, y: -9), .init(small, at: .topRight),
                    .init(small, at: .bottomLeft, x: -8),
                ]), within: 1),
            GoldenCase("pillow-overlay-share", .overlay(small, at: .bottomLeft, scale: .share(0.25)), within: 3),
        ]
    }
}

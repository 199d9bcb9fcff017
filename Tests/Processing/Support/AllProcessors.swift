import AlcedoCore
import AlcedoProcessing

/// At least one processor of every kind, with parameters that change something.
enum AllProcessors {
    static let red = PixelColor(red: 230, green: 20, blue: 40, alpha: 200)
    static let line = ImageProcessors.Border(width: 1.5, color: red)

    static let list: [any ImageProcessing] =
        [
            .resize(exactly: PixelSize(width: 7, height: 5), enlarges: true), .resize(width: 3),
            .resize(fitting: PixelSize(width: 4, height: 4), sampling: ResizeSampling(inLinearLight: true)),
            .resize(covering: PixelSize(width: 5, height: 3), at: .focus(x: 0.2, y: 0.9)),
            .resize(containedIn: PixelSize(width: 8, height: 6), at: .top, background: red),
            .extend(top: 1, left: 2, bottom: 3, right: 4), .extend(by: 2, with: .color(.white)),
            .extend(top: 2, right: 9, with: .edge), .extend(by: 5, with: .mirror),
            .extend(to: PixelSize(width: 12, height: 12), at: .bottomLeft, with: .color(red)),
            .trim(), .trim(.black, tolerance: 100),
            .crop(to: PixelSize(width: 3, height: 9)), .crop(x: -2, y: 0, width: 5, height: 3),
            .crop(aspect: PixelSize(width: 3, height: 2), at: .bottomRight), .flatten(), .flatten(onto: .black),
            .orient, .flip(.leftAndRight), .flip(.topAndBottom), ImageProcessors.Rotate(clockwise: 90),
            ImageProcessors.Rotate(clockwise: -180),
            .rotate(clockwise: 30), .rotate(clockwise: -100.5, background: red),
            .rotate(clockwise: 45, background: .white),
            .circle(), .circle(border: line), .roundedCorners(radius: 2),
            .roundedCorners(radius: 0, border: line),
            .roundedCorners(CornerRadii(topLeft: 0.3, bottomRight: 0.5, unit: .shorterSide), border: line),
            .blur(sigma: 1), .blur(sigma: 6.5),
            .adjust(brightness: 1.2, contrast: 0.8, saturation: 1.5), .adjust(saturation: 0),
            .grayscale, .tint(red), .tint(red, mode: .color),
            .negate(), .negate(includesAlpha: true), .threshold(100), .threshold(100, perChannel: true), .gamma(0.6),
            .normalize(lower: 0, upper: 95), .median(), .median(size: 7), .sharpen(sigma: 0.8),
            .sharpen(sigma: 5, flat: 0, jagged: 3),
            .composition([.resize(width: 5), .tint(red, mode: .multiply), .circle(), .flatten()]),
            .composition([.flip(.topAndBottom), .blur(sigma: 5), .crop(to: PixelSize(width: 2, height: 2))]),
            .everyFrame(.grayscale), .stillImagesOnly(.rotate(clockwise: 12)), .firstFrame,
            .pixelClosure(identifier: "negative") { SIMD4(1, 1, 1, $0.w * 2) - $0 },
            .closure(identifier: "same") { $0 },
        ]
        + overlays

    private static let overlays: [ImageProcessors.BuiltIn] =
        ImageProcessors.BlendMode.allCases.map { .overlay(badge, at: .right, x: 1, y: -1, mode: $0) }
        + ImageProcessors.CompositingOperator.allCases.map {
            .overlay(badge, at: .topLeft, x: -1, y: 2, compositing: $0)
        } + [
            .overlay(badge, at: .bottomLeft, x: 3, scale: .factor(1.7), isTiled: true, mode: .screen, opacity: 0.6),
            .overlay([
                ImageProcessors.Overlay(badge, x: -1, isTiled: true, mode: .multiply),
                ImageProcessors.Overlay(.noise(9, 3, .rgba16, .premultiplied, seed: 3), scale: .share(0.9)),
                ImageProcessors.Overlay(.noise(4, 4, .gray16, .opaque, seed: 4), at: .topRight, scale: .factor(0.6)),
            ]),
        ]

    /// An overlay with some transparent pixels.
    static let badge = PixelBuffer.noise(4, 5, .rgba8, .straight, seed: 77)
}

extension ImageProcessing {
    /// The processor in a value made by leading-dot syntax, and other processors themselves.
    var unwrapped: any ImageProcessing { (self as? ImageProcessors.BuiltIn)?.processor ?? self }
}

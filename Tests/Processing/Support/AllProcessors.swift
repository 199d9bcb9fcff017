import AlcedoCore
import AlcedoProcessing

/// At least one processor of every kind, with parameters that change something.
enum AllProcessors {
    static let red = PixelColor(red: 230, green: 20, blue: 40, alpha: 200)
    static let line = Border(width: 1.5, color: red)

    static let list: [any ImageProcessing] =
        [
            Resize(to: PixelSize(width: 7, height: 5), mode: .exact, enlarges: true), Resize(width: 3),
            Resize(to: PixelSize(width: 4, height: 4), sampling: ResizeSampling(inLinearLight: true)),
            Crop(center: PixelSize(width: 3, height: 9)), Crop(PixelRect(x: -2, y: 0, width: 5, height: 3)),
            Crop(aspect: PixelSize(width: 3, height: 2), at: .bottomRight), Flatten(), Flatten(onto: .black),
            Orient(), Flip(.leftAndRight), Flip(.topAndBottom), Rotate(quarterTurns: 1), Rotate(quarterTurns: -2),
            Rotate(clockwise: 30), Rotate(clockwise: -100.5, background: red),
            Rotate(clockwise: 45, background: .white),
            Circle(), Circle(border: line), RoundedCorners(CornerRadii(2)),
            RoundedCorners(CornerRadii(0), border: line),
            RoundedCorners(CornerRadii(topLeft: 0.3, bottomRight: 0.5, unit: .shorterSide), border: line),
            GaussianBlur(sigma: 1), GaussianBlur(sigma: 6.5),
            ColorAdjustment(brightness: 1.2, contrast: 0.8, saturation: 1.5), ColorAdjustment(saturation: 0),
            BlackAndWhite(), Tint(red), Tint(red, mode: .color),
            Composition(Resize(width: 5), Tint(red, mode: .multiply), Circle(), Flatten()),
            Composition(Flip(.topAndBottom), GaussianBlur(sigma: 5), Crop(center: PixelSize(width: 2, height: 2))),
            EveryFrame(BlackAndWhite()), StillsOnly(Rotate(clockwise: 12)), FirstFrame(),
            PixelClosureProcessor(identifier: "negative") { SIMD4(1, 1, 1, $0.w * 2) - $0 },
            ClosureProcessor(identifier: "same") { $0 },
        ] + BlendMode.allCases.map { Overlay(badge, at: .right, offset: PixelOffset(x: 1, y: -1), mode: $0) }

    /// A picture to put over others, transparent here and there.
    static let badge = PixelBuffer.noise(4, 5, .rgba8, .straight, seed: 77)
}

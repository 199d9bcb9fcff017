import AlcedoCore
import Foundation

/// A converter of sRGB to Display P3, without support for ICC profiles.
struct PlugInColorConverter: ColorConverting {
    func conversion(
        of header: PixelRowHeader, to space: OutputColorSpace
    ) throws(ColorConversionError) -> RowConversion? {
        guard header.colorProfile == nil, !header.hasInks else {
            throw ColorConversionError(.unsupportedProfile, "ICC profiles are not supported")
        }
        // Gray is the same in both color spaces.
        guard space == .displayP3, !header.format.isGray else { return nil }
        let isPremultiplied = header.alphaMode == .premultiplied
        if header.format.isDeep { return { Self.convert($0, UInt16.self, isPremultiplied: isPremultiplied) } }
        return { Self.convert($0, UInt8.self, isPremultiplied: isPremultiplied) }
    }

    private static func convert<Sample: FixedWidthInteger & UnsignedInteger>(
        _ row: UnsafeMutableRawBufferPointer, _: Sample.Type, isPremultiplied: Bool
    ) {
        let samples = row.bindMemory(to: Sample.self)
        for pixel in stride(from: 0, to: samples.count - 3, by: 4) {
            let alpha = isPremultiplied ? Double(samples[pixel + 3]) : Double(Sample.max)
            guard alpha > 0 else { continue }
            let light = (0..<3).map { linear(Double(samples[pixel + $0]) / alpha) }
            let converted = [
                0.8224621 * light[0] + 0.1775380 * light[1],
                0.0331941 * light[0] + 0.9668058 * light[1],
                0.0170827 * light[0] + 0.0723974 * light[1] + 0.9105199 * light[2],
            ]
            for channel in 0..<3 {
                samples[pixel + channel] = Sample((encoded(min(1, converted[channel])) * alpha).rounded(.down))
            }
        }
    }

    private static func linear(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}

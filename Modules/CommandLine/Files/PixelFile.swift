import Alcedo
import FoundationEssentials

/// A format of uncompressed pixels, stored row by row from the top.
enum PixelFile: String, CaseIterable, Sendable {
    /// Netpbm's PAM (P7): gray or color, with or without alpha, with 8 or 16 bits a sample.
    case pam
    /// Netpbm's PPM (P6): red, green and blue, without alpha, with 8 or 16 bits a sample.
    case ppm
    /// Red, green, blue and straight alpha samples without a header. Samples of 16 bits are in the machine's byte
    /// order.
    case rgba

    static let names = "pam, ppm or rgba"

    init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        self.init(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    }

    /// Returns the range of the samples that are written for each pixel, and the number of samples that a pixel has in
    /// memory.
    private func channels(of pixels: PixelBuffer) -> (written: Range<Int>, stored: Int) {
        switch (self, pixels.format) {
        case (.pam, .gray8), (.pam, .gray16): (0..<1, 1)
        case (_, .gray8), (_, .gray16): (0..<(self == .rgba ? 4 : 3), 1)
        case (.rgba, _): (0..<4, 4)
        case (.pam, _) where pixels.hasAlphaSamples: (0..<4, 4)
        default: (0..<3, 4)
        }
    }

    /// Returns the contents of a file with the pixels.
    ///
    /// - Parameter pixels: The pixels, with straight or no alpha.
    func data(of pixels: PixelBuffer) -> Data {
        let (written, stored) = channels(of: pixels)
        let isDeep = pixels.format.isDeep
        // Netpbm stores samples in big-endian order.
        let swaps = isDeep && self != .rgba
        var data = Data(header(of: pixels, depth: written.count, maximum: isDeep ? 65_535 : 255).utf8)
        data.reserveCapacity(data.count + pixels.size.pixelCount * written.count * (isDeep ? 2 : 1))
        var line: [UInt8] = []
        for y in 0..<pixels.height {
            line.removeAll(keepingCapacity: true)
            pixels.row(y).withUnsafeBytes { row in
                guard written.count != stored || swaps else {
                    line.append(contentsOf: row)
                    return
                }
                for x in 0..<pixels.width {
                    for channel in written {
                        let from = x * stored + (stored == 1 ? 0 : channel)
                        if stored == 1, channel == 3 {
                            line.append(contentsOf: isDeep ? [255, 255] : [255])
                        } else if isDeep {
                            line.append(row[2 * from + (swaps ? 1 : 0)])
                            line.append(row[2 * from + (swaps ? 0 : 1)])
                        } else {
                            line.append(row[from])
                        }
                    }
                }
            }
            data.append(contentsOf: line)
        }
        return data
    }

    private func header(of pixels: PixelBuffer, depth: Int, maximum: Int) -> String {
        let (width, height) = (pixels.width, pixels.height)
        switch self {
        case .rgba: return ""
        case .ppm: return "P6\n\(width) \(height)\n\(maximum)\n"
        case .pam:
            let type = depth == 1 ? "GRAYSCALE" : depth == 3 ? "RGB" : "RGB_ALPHA"
            return "P7\nWIDTH \(width)\nHEIGHT \(height)\nDEPTH \(depth)\nMAXVAL \(maximum)\nTUPLTYPE \(type)\nENDHDR\n"
        }
    }
}

import AlcedoCore
import Testing

@testable import AlcedoPNG

/// The pieces in which the progressive reader receives a damaged file.
@Suite struct PNGPieceTests {
    @Test(arguments: [(0, 1), (0, 8), (2, 8), (3, 1), (3, 8), (6, 16)], [1, 30, 1_000, 7_000, 20_000, 1_000_000])
    func `pieces contain more than a few bytes, and their rows use little memory`(kind: (Int, Int), width: Int) {
        let (colorType, bitDepth) = kind
        let size = PixelSize(width: width, height: 100_000)
        let header = PNGHeader(
            size: size, bitDepth: bitDepth, colorType: colorType, hasAlpha: colorType == 6, isInterlaced: false)
        let options = DecodingOptions(pixelFormat: bitDepth == 16 ? .rgba16 : .rgba8)
        let plan = PNGPlan(header, ImageInfo(format: .png, size: size), options)

        #expect(plan.pushedPieceByteCount >= 16)
        #expect(plan.pushedByteCount <= max(1 << 20, 4 * plan.rowHeader.bytesPerRow))
    }
}

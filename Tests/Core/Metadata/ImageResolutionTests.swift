import AlcedoCore
import Foundation
import Testing

/// The resolution in EXIF.
@Suite struct ImageResolutionTests {
    private func resolution(of exif: [UInt8]) -> ImageResolution? {
        ImageInfo(
            format: .jpeg, size: PixelSize(width: 1, height: 1), metadata: ImageMetadata(exif: Data(exif))
        ).metadata.resolution
    }

    /// Returns big-endian data with a horizontal resolution of a type, whose bytes follow the directory, and a unit.
    private func exif(type: UInt8, _ value: [UInt8], unit: UInt8) -> [UInt8] {
        let inline = value.count <= 4 ? value + [UInt8](repeating: 0, count: 4 - value.count) : [0, 0, 0, 38]
        let directory: [UInt8] =
            [0, 2, 1, 0x1A, 0, type, 0, 0, 0, 1] + inline + [1, 0x28, 0, 3, 0, 0, 0, 1, 0, unit, 0, 0]
        return Array("MM\0*".utf8) + [0, 0, 0, 8] + directory + [0, 0, 0, 0] + (value.count > 4 ? value : [])
    }

    @Test func `fractions and integers are read, in inches and centimeters`() {
        let fraction: [UInt8] = [0, 0, 2, 88, 0, 0, 0, 2]
        #expect(resolution(of: exif(type: 5, fraction, unit: 2)) == ImageResolution(pixelsPerInch: 300))
        #expect(resolution(of: exif(type: 10, fraction, unit: 2)) == ImageResolution(pixelsPerInch: 300))
        #expect(resolution(of: exif(type: 3, [1, 44], unit: 2)) == ImageResolution(pixelsPerInch: 300))
        #expect(resolution(of: exif(type: 5, fraction, unit: 3))?.keeps(ImageResolution(pixelsPerInch: 762)) == true)
        let (float, double) = (Float(300.5).bitPattern, 300.5.bitPattern)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: float >> (24 - 8 * $0)) }
        let longBytes = (0..<8).map { UInt8(truncatingIfNeeded: double >> (56 - 8 * $0)) }
        #expect(resolution(of: exif(type: 11, bytes, unit: 2)) == ImageResolution(pixelsPerInch: 300.5))
        #expect(resolution(of: exif(type: 12, longBytes, unit: 2)) == ImageResolution(pixelsPerInch: 300.5))
        let infinity: [UInt8] = [0x7F, 0x80, 0, 0]
        #expect(resolution(of: exif(type: 11, infinity, unit: 2)) == nil)
    }

    @Test(
        arguments: [
            [0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1],
        ] as [[UInt8]])
    func `a resolution that is not positive is absent`(value: [UInt8]) {
        #expect(resolution(of: exif(type: 10, value, unit: 2)) == nil)
    }

    @Test func `a resolution without a unit is absent`() {
        #expect(resolution(of: exif(type: 3, [1, 44], unit: 1)) == nil)
    }

    @Test func `truncated data has no resolution`() {
        let whole = exif(type: 5, [0, 0, 2, 88, 0, 0, 0, 2], unit: 2)
        for count in 0..<whole.count { #expect(resolution(of: Array(whole[..<count])) == nil) }
    }

    @Test(arguments: [0.001, 0.5, 72, 299.9994, 1_000_000.25, 4e9])
    func `a written resolution is read back`(value: Double) throws {
        let written = ImageMetadata(resolution: ImageResolution(horizontal: value, vertical: 2 * min(value, 1e9)))
            .writtenEXIF(.up, PixelSize(width: 1, height: 1), holdsResolution: false)
        let read = try #require(resolution(of: written))
        #expect(abs(read.horizontal - value) <= 0.001 + value / 1e6)
    }

    @Test(arguments: [0, -1, .infinity, .nan, 1e300])
    func `a resolution that cannot be stored is omitted`(value: Double) {
        let metadata = ImageMetadata(resolution: ImageResolution(pixelsPerInch: value))
        let written = metadata.writtenEXIF(.up, PixelSize(width: 1, height: 1), holdsResolution: false)
        #expect(resolution(of: written) == nil)
    }
}

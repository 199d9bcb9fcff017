import AlcedoCore
import Foundation
import TestSupport
import Testing

@Suite struct EXIFThumbnailTests {
    private let thumbnail = Data([0xFF, 0xD8, 0xFF, 0xD9, 1, 2, 3])

    @Test(arguments: [true, false], [true, false])
    func `a thumbnail is added to data of both byte orders, and found again`(isLittleEndian: Bool, hasPreview: Bool)
        throws
    {
        let photo = MadeEXIF.made(orientation: 6, isLittleEndian: isLittleEndian, hasPreview: hasPreview)
        #expect((ImageMetadata.thumbnail(in: photo) != nil) == hasPreview)

        let result = Data(try #require(ImageMetadata.exif([UInt8](photo), adding: thumbnail)))

        #expect(ImageMetadata.thumbnail(in: result) == thumbnail)
        #expect(ImageMetadata.thumbnail(in: Data([9, 9]) + result) == nil)
        #expect(ImageMetadata.thumbnail(in: (Data([9, 9]) + result).dropFirst(2)) == thumbnail)
        // Removing it gives the data without a preview, and a rest that no tag names.
        let plain = MadeEXIF.made(orientation: 6, isLittleEndian: isLittleEndian, hasPreview: false)
        let size = PixelSize(width: 4000, height: 3000)
        let written = ImageOrientation.right.written(in: result, size: size)
        #expect(ImageMetadata.thumbnail(in: Data(written)) == nil)
        #expect(hasPreview || Data(written.prefix(plain.count)) == plain)
        #expect(Data(written).range(of: thumbnail) == nil)
    }

    @Test func `data without tags gets those of a thumbnail`() throws {
        let result = try #require(ImageMetadata.exif([], adding: thumbnail))

        #expect(ImageMetadata.thumbnail(in: Data(result)) == thumbnail)
        let isReadable = ImageMetadata.isReadable(exif: result.span.bytes)
        #expect(isReadable)
        let tags = MadeEXIF.tags(of: Data(result), at: 26)
        #expect(tags.map(\.tag) == [0x0103, 0x011A, 0x011B, 0x0128, 0x0201, 0x0202])
        #expect(tags.last?.value == thumbnail.count)
    }

    @Test func `data that would be too long, or has no directory, stays without a thumbnail`() throws {
        let overhead = try #require(ImageMetadata.exif([], adding: thumbnail)).count - thumbnail.count
        let largest = ImageMetadata.maximumEXIFByteCount - overhead
        #expect(ImageMetadata.exif([], adding: Data(count: largest))?.count == ImageMetadata.maximumEXIFByteCount)
        #expect(ImageMetadata.exif([], adding: Data(count: largest + 1)) == nil)
        #expect(ImageMetadata.exif(Array("no TIFF".utf8), adding: thumbnail) == nil)
        let photo = [UInt8](MadeEXIF.photo)
        // The first directory ends after 110 bytes.
        for count in 1..<110 { #expect(ImageMetadata.exif(Array(photo.prefix(count)), adding: thumbnail) == nil) }
    }

    @Test func `truncated and hostile data has no thumbnail beyond its bytes`() throws {
        let exif = try #require(ImageMetadata.exif([], adding: thumbnail))
        for count in exif.indices { #expect(ImageMetadata.thumbnail(in: Data(exif.prefix(count))) == nil) }
        for index in exif.indices {
            for value in [UInt8(0), 1, 0x7F, 0x80, 0xFF] {
                var changed = exif
                changed[index] = value
                if let found = ImageMetadata.thumbnail(in: Data(changed)) { #expect(found.count <= thumbnail.count) }
            }
        }
    }
}

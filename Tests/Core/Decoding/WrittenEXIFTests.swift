import AlcedoCore
import Foundation
import TestSupport
import Testing

/// EXIF data with the size of the written image and without a preview image.
@Suite struct WrittenEXIFTests {
    private let size = PixelSize(width: 80, height: 60)

    private func written(_ exif: Data, _ size: PixelSize? = nil) -> Data {
        Data(ImageOrientation.up.written(in: exif, size: size ?? self.size))
    }

    /// Returns big-endian data with one directory for the image, another one for the preview, and content after them.
    ///
    /// - Parameters:
    ///   - image: The entries of the image, of twelve bytes each. Default: none.
    ///   - preview: The entries of the preview.
    ///   - content: The bytes after the directories.
    private func exif(_ image: [[UInt8]] = [], preview: [[UInt8]], _ content: [UInt8]) -> Data {
        var bytes = Array("MM\0*".utf8) + [0, 0, 0, 8, 0, UInt8(image.count)]
        bytes += image.joined()
        bytes += [0, 0, 0, UInt8(bytes.count + 4), 0, UInt8(preview.count)]
        bytes += preview.joined()
        bytes += [0, 0, 0, 0]
        return Data(bytes + content)
    }

    @Test(arguments: [true, false])
    func `the tags of the size are set, and the preview is removed`(isLittleEndian: Bool) {
        let photo = MadeEXIF.made(orientation: 6, isLittleEndian: isLittleEndian)

        let result = written(photo)

        let expected = MadeEXIF.made(orientation: 1, size: size, isLittleEndian: isLittleEndian, hasPreview: false)
        #expect(photo.range(of: MadeEXIF.preview) != nil)
        #expect(result == expected)
        #expect(written(result) == result)
    }

    @Test func `a size beyond 65,535 is written as a LONG`() {
        let photo = MadeEXIF.made(orientation: 1)
        // The tag 0xA002, one SHORT of 4,000, and one LONG of 65,536.
        let old = Data([0xA0, 2, 0, 3, 0, 0, 0, 1, 0x0F, 0xA0, 0, 0])
        let new = Data([0xA0, 2, 0, 4, 0, 0, 0, 1, 0, 1, 0, 0])

        let result = written(photo, PixelSize(width: 65_536, height: 60))

        #expect(photo.range(of: old) != nil)
        #expect(result.range(of: new) != nil)
    }

    @Test func `a preview before other values is overwritten with zeros`() {
        let photo = MadeEXIF.photo + Data("maker".utf8)

        let result = written(photo)

        #expect(result.count == photo.count)
        #expect(result.suffix(5) == Data("maker".utf8))
        #expect(result.range(of: MadeEXIF.preview) == nil)
    }

    @Test func `the strips of an uncompressed preview are removed`() {
        // Offsets as two LONGs at 44, after the directory, and lengths as two SHORTs in their entry.
        let tags: [[UInt8]] = [
            [1, 0x11, 0, 4, 0, 0, 0, 2, 0, 0, 0, 44], [1, 0x17, 0, 3, 0, 0, 0, 2, 0, 3, 0, 2],
        ]
        let offsets: [UInt8] = [0, 0, 0, 52, 0, 0, 0, 56]
        let data = exif(preview: tags, offsets + [7, 7, 7, 9, 8, 8, 9])

        let result = written(data)

        #expect(Array(result.suffix(7)) == [0, 0, 0, 9, 0, 0, 9])
        #expect(Array(result[10..<14]) == [0, 0, 0, 0])
    }

    @Test func `a damaged preview does not damage the first directory`() {
        let software: [UInt8] = [1, 0x31, 0, 2, 0, 0, 0, 2, 0x41, 0, 0, 0]
        for (offset, length) in [(0, 200), (8, 4), (20, 200), (0xFF, 0xFF)] as [(UInt8, UInt8)] {
            let tags: [[UInt8]] = [
                [2, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, offset], [2, 2, 0, 4, 0, 0, 0, 1, 0, 0, 0, length],
            ]
            let data = exif([software], preview: tags, [7, 7, 7])

            let result = written(data)

            #expect(result.prefix(22) == data.prefix(22))
        }
    }

    @Test func `the orientation is inserted after the preview was removed`() {
        let data = exif(
            [[1, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0x0F, 0xA0]],
            preview: [[2, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 56], [2, 2, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2]], [7, 7])

        let result = ImageOrientation.left.written(in: data, size: size)

        #expect(ImageOrientation(exif: result.span.bytes) == .left)
        let width: [UInt8] = [1, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 80]
        let orientation: [UInt8] = [1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0]
        let expected: [UInt8] = [0, 2] + width + orientation + [0, 0, 0, 0]
        #expect(Array(result.suffix(30)) == expected)
        #expect(!result.contains(7))
    }

    @Test func `damaged data never traps`() {
        let whole = [UInt8](MadeEXIF.photo)
        for count in whole.indices { _ = written(Data(whole[..<count])) }
        for index in whole.indices {
            for value in [0, 1, 2, 8, 0x7F, 0x80, 0xFE, 0xFF] as [UInt8] {
                var bytes = whole
                bytes[index] = value
                _ = written(Data(bytes))
            }
        }
    }
}

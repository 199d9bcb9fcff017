package import AlcedoCore
package import Foundation

extension ImageDecoding {
    /// How decoding fails; nil when it does not.
    package func errorCode(
        _ data: Data, limits: DecodingLimits = DecodingLimits()
    ) -> ImageDecodingError.Code? {
        errorCode(data, options: DecodingOptions(limits: limits))
    }

    /// How decoding fails; nil when it does not.
    package func errorCode(_ data: Data, options: DecodingOptions) -> ImageDecodingError.Code? {
        do throws(ImageDecodingError) {
            _ = try decode(data, options: options)
            return nil
        } catch {
            return error.code
        }
    }
}

extension Bundle {
    /// A file of the folder `Fixtures` of a test target.
    package func fixture(_ name: String) throws -> Data {
        guard let url = url(forResource: name, withExtension: nil, subdirectory: "Fixtures") else {
            throw CocoaError(.fileNoSuchFile)
        }
        return try Data(contentsOf: url)
    }
}

import AlcedoCore

extension BindingOptions {
    var look: BindingState.Look {
        BindingState.Look(
            hasPlaceholder: placeholder != nil, hasFailureImage: failureImage != nil,
            keepsCurrentImage: keepsCurrentImage)
    }

    /// The picture that `slot` stands for.
    func content(_ slot: BindingState.Slot, of result: Result<ImageResponse, any Error>?) -> DisplayContent {
        switch (slot, result) {
        case (.image, .success(let response)?): .image(response.image, from: response.layer)
        case (.placeholder, _): placeholder.map { .placeholder($0) } ?? .nothing
        case (.failureImage, _): failureImage.map { .failure($0) } ?? .nothing
        case (.image, _), (.nothing, _): .nothing
        }
    }
}

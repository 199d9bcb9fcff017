extension BindingOptions {
    var look: BindingState.Look {
        BindingState.Look(
            hasPlaceholder: placeholder != nil, hasFailureImage: failureImage != nil,
            keepsCurrentImage: keepsCurrentImage, hasLowResolution: lowResolution != nil)
    }
}

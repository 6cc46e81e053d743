// Made by make.py with PyTorch 2.15.0. Do not edit.
#pragma once

#include <vector>

// clang-format off
#define OPTIMIZER_ROWS \
    STEPS(SGD, SGDOptions(0.1).momentum(0.0).dampening(0.0).weight_decay(0.0).nesterov(false).maximize(false), 0.9649999999999999, -2.025, 0.23499999999999996), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.0).dampening(0.0).weight_decay(0.0).nesterov(false).maximize(true), 1.035, -1.975, 0.7649999999999999), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.0).dampening(0.0).weight_decay(0.1).nesterov(false).maximize(false), 0.9189176744, -1.9300185885499999, 0.21897285294999996), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.0).dampening(0.0).weight_decay(0.1).nesterov(false).maximize(true), 0.9830624253999999, -1.8739416110499998, 0.73201719695), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.0).weight_decay(0.0).nesterov(false).maximize(false), 0.7186699999999999, -1.7975024999999998, -0.43559000000000003), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.0).weight_decay(0.0).nesterov(false).maximize(true), 1.28133, -2.2024974999999998, 1.4355900000000001), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.0).weight_decay(0.0).nesterov(true).maximize(false), 0.7118030000000001, -1.8427522500000002, -0.607031), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.0).weight_decay(0.0).nesterov(true).maximize(true), 1.2881969999999998, -2.1572477500000002, 1.607031), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.0).weight_decay(0.1).nesterov(false).maximize(false), 0.5979527804, -1.55771719055, -0.4644807390500001), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.0).weight_decay(0.1).nesterov(false).maximize(true), 1.1453152714000001, -1.9288189130500002, 1.33611476495), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.0).weight_decay(0.1).nesterov(true).maximize(false), 0.567928352160506, -1.5506077468637645, -0.6178290052867296), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.0).weight_decay(0.1).nesterov(true).maximize(true), 1.1089531744804961, -1.8031553064182397, 1.4562697686072306), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.0).nesterov(false).maximize(false), 0.7569575000000001, -1.6428075, -0.377305), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.0).nesterov(false).maximize(true), 1.2430425, -2.3571925, 1.377305), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.1).nesterov(false).maximize(false), 0.6760161691499998, -1.482415545784375, -0.40239125444062507), \
    STEPS(SGD, SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.1).nesterov(false).maximize(true), 1.1539897960875003, -2.177596384690625, 1.317394237059375), \
    STEPS(Adam, AdamOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.0).amsgrad(false).maximize(false), 0.8347070433092832, -1.8455642397032863, 0.18593439441572296), \
    STEPS(Adam, AdamOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.0).amsgrad(false).maximize(true), 1.1652929566907166, -2.154435760296714, 0.8140656055842771), \
    STEPS(Adam, AdamOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.0).amsgrad(true).maximize(false), 0.8347070433092832, -1.8455642397032863, 0.18594627415854875), \
    STEPS(Adam, AdamOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.0).amsgrad(true).maximize(true), 1.1652929566907166, -2.154435760296714, 0.8140537258414513), \
    STEPS(Adam, AdamOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.1).amsgrad(false).maximize(false), 0.7956543641339823, -1.7720681019273128, 0.17843999248999465), \
    STEPS(Adam, AdamOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.1).amsgrad(false).maximize(true), 1.119273250878823, -2.065754930081172, 0.7983228273090881), \
    STEPS(Adam, AdamOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.1).amsgrad(true).maximize(false), 0.7956543641339823, -1.7720681019273128, 0.1784409381645396), \
    STEPS(Adam, AdamOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.1).amsgrad(true).maximize(true), 1.119273250878823, -2.065754930081172, 0.7983055249915413), \
    STEPS(Adam, AdamOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.0).amsgrad(false).maximize(false), 0.9048028290156196, -2.0052740125940782, 0.28677381421722087), \
    STEPS(Adam, AdamOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.0).amsgrad(false).maximize(true), 1.0951971709843804, -1.9947259874059218, 0.7132261857827793), \
    STEPS(Adam, AdamOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.0).amsgrad(true).maximize(false), 0.9100499287753487, -2.007707299974491, 0.3104894934328179), \
    STEPS(Adam, AdamOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.0).amsgrad(true).maximize(true), 1.089950071224651, -1.9922927000255095, 0.6895105065671823), \
    STEPS(Adam, AdamOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.1).amsgrad(false).maximize(false), 0.8728900166148552, -1.9226229205979415, 0.27566398611513665), \
    STEPS(Adam, AdamOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.1).amsgrad(false).maximize(true), 1.0586770403087267, -1.9103272047988467, 0.6913510642682106), \
    STEPS(Adam, AdamOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.1).amsgrad(true).maximize(false), 0.876386926319032, -1.9210910847823566, 0.3016993199422195), \
    STEPS(Adam, AdamOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.1).amsgrad(true).maximize(true), 1.0527011024624529, -1.9131549030180344, 0.6726026760286734), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.0).amsgrad(false).maximize(false), 0.8347070433092832, -1.8455642397032863, 0.18593439441572296), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.0).amsgrad(false).maximize(true), 1.1652929566907166, -2.154435760296714, 0.8140656055842771), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.0).amsgrad(true).maximize(false), 0.8347070433092832, -1.8455642397032863, 0.18594627415854875), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.0).amsgrad(true).maximize(true), 1.1652929566907166, -2.154435760296714, 0.8140537258414513), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.1).amsgrad(false).maximize(false), 0.7902269471973696, -1.7533469554555847, 0.1689668762403598), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.1).amsgrad(false).maximize(true), 1.1117531526026303, -2.050613244144415, 0.7820231736596402), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.1).amsgrad(true).maximize(false), 0.7902269471973696, -1.7533469554555847, 0.1689787559831856), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.9, 0.999}).eps(1e-08).weight_decay(0.1).amsgrad(true).maximize(true), 1.1117531526026303, -2.050613244144415, 0.7820112939168145), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.0).amsgrad(false).maximize(false), 0.9048028290156196, -2.0052740125940782, 0.28677381421722087), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.0).amsgrad(false).maximize(true), 1.0951971709843804, -1.9947259874059218, 0.7132261857827793), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.0).amsgrad(true).maximize(false), 0.9100499287753487, -2.007707299974491, 0.3104894934328179), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.0).amsgrad(true).maximize(true), 1.089950071224651, -1.9922927000255095, 0.6895105065671823), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.1).amsgrad(false).maximize(false), 0.8598096714539768, -1.9106326180186803, 0.26790488495534526), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.1).amsgrad(false).maximize(true), 1.0421704283460234, -1.8933275815813198, 0.6830851649446549), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.1).amsgrad(true).maximize(false), 0.8649830878719664, -1.9129283736666367, 0.29136566456304475), \
    STEPS(AdamW, AdamWOptions(0.1).betas({0.3, 0.7}).eps(1e-08).weight_decay(0.1).amsgrad(true).maximize(true), 1.0369970119280336, -1.8910318259333632, 0.6596243853369553), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.0).centered(false).weight_decay(0.0).maximize(false), 0.8190586874475712, -1.990978052723172, 0.08490847764730332), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.0).centered(false).weight_decay(0.0).maximize(true), 1.1809413125524288, -2.0090219472768283, 0.9150915223526966), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.0).centered(false).weight_decay(0.1).maximize(false), 0.7678773269483383, -1.8434399906125425, 0.07735105749273288), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.0).centered(false).weight_decay(0.1).maximize(true), 1.1045185160656312, -1.8325053040232868, 0.8647282992972726), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.0).centered(true).weight_decay(0.0).maximize(false), 0.794898851604748, -1.9754897751232339, 0.058607977037741774), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.0).centered(true).weight_decay(0.0).maximize(true), 1.2051011483952516, -2.024510224876766, 0.9413920229622583), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.0).centered(true).weight_decay(0.1).maximize(false), 0.7408422129806725, -1.8253671944460643, 0.051826431453396236), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.0).centered(true).weight_decay(0.1).maximize(true), 1.1203499630991107, -1.8390772022016648, 0.8865369031753465), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(false).weight_decay(0.0).maximize(false), 0.5303911996785623, -1.8324501225540553, -0.25068073760405224), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(false).weight_decay(0.0).maximize(true), 1.4696088003214374, -2.1675498774459445, 1.2506807376040523), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(false).weight_decay(0.1).maximize(false), 0.4572956800704819, -1.616822226128483, -0.24965962344360784), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(false).weight_decay(0.1).maximize(true), 1.34566293873091, -1.8704692363612883, 1.1602725261621145), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(true).weight_decay(0.0).maximize(false), 0.4854049458119244, -1.8017541404229445, -0.2980370778002662), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(true).weight_decay(0.0).maximize(true), 1.5145950541880755, -2.1982458595770558, 1.2980370778002663), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(true).weight_decay(0.1).maximize(false), 0.4076395632446981, -1.5831628092829362, -0.2941564382332864), \
    STEPS(RMSprop, RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(true).weight_decay(0.1).maximize(true), 1.375611933204357, -1.8883185495811547, 1.1995032888339006), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.0).weight_decay(0.0).initial_accumulator_value(0.0).maximize(false), 0.9391058599749251, -1.9896870883183426, 0.3721872319837063), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.0).weight_decay(0.0).initial_accumulator_value(0.0).maximize(true), 1.060894140025075, -2.0103129116816567, 0.6278127680162936), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.0).weight_decay(0.0).initial_accumulator_value(0.5).maximize(false), 0.9678637849781289, -1.9953624192298258, 0.37910140813739485), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.0).weight_decay(0.0).initial_accumulator_value(0.5).maximize(true), 1.0321362150218711, -2.004637580770174, 0.620898591862605), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.0).weight_decay(0.1).initial_accumulator_value(0.0).maximize(false), 0.9190783790747546, -1.9414884888910153, 0.36597601148099973), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.0).weight_decay(0.1).initial_accumulator_value(0.0).maximize(true), 1.0393183627780755, -1.9577526249754864, 0.617422016816354), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.0).weight_decay(0.1).initial_accumulator_value(0.5).maximize(false), 0.9422667476534774, -1.948459716783588, 0.3727705748753159), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.0).weight_decay(0.1).initial_accumulator_value(0.5).maximize(true), 1.0035165314390384, -1.9537481012598605, 0.6107992757859758), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.0).initial_accumulator_value(0.0).maximize(false), 0.930444025776003, -1.9602573898571858, 0.38221748327389), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.0).initial_accumulator_value(0.0).maximize(true), 1.0695559742239973, -2.039742610142814, 0.6177825167261098), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.0).initial_accumulator_value(0.5).maximize(false), 0.961325010877452, -1.9681796900959443, 0.3887182920442863), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.0).initial_accumulator_value(0.5).maximize(true), 1.038674989122548, -2.0318203099040555, 0.6112817079557138), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.1).initial_accumulator_value(0.0).maximize(false), 0.9161483755837195, -1.9267681150547735, 0.3778897208121555), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.1).initial_accumulator_value(0.0).maximize(true), 1.0546294952022996, -2.0020452190858413, 0.6106297252629522), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.1).initial_accumulator_value(0.5).maximize(false), 0.9411943634655767, -1.9348285501201714, 0.38423685626566223), \
    STEPS(Adagrad, AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.1).initial_accumulator_value(0.5).maximize(true), 1.0162326893723999, -1.9944653268913966, 0.6042504543276053),

inline const std::vector<double> kStep = {0.5, 0.1, 0.5, 0.1, 0.5, 0.1, 0.25, 0.05, 0.25, 0.05, 0.25, 0.05, 0.125, 0.025, 0.125, 0.025, 0.125, 0.025, 0.0625, 0.0125, 0.0625, 0.0125, 0.0625, 0.0125, 0.03125, 0.00625};
inline const std::vector<double> kMultiStep = {0.5, 0.1, 0.5, 0.1, 0.25, 0.05, 0.25, 0.05, 0.25, 0.05, 0.0625, 0.0125, 0.0625, 0.0125, 0.0625, 0.0125, 0.0625, 0.0125, 0.0625, 0.0125, 0.0625, 0.0125, 0.0625, 0.0125, 0.0625, 0.0125};
inline const std::vector<double> kExponential = {0.5, 0.1, 0.45, 0.09000000000000001, 0.405, 0.08100000000000002, 0.36450000000000005, 0.07290000000000002, 0.32805000000000006, 0.06561000000000002, 0.2952450000000001, 0.05904900000000002, 0.2657205000000001, 0.05314410000000002, 0.23914845000000007, 0.04782969000000002, 0.21523360500000008, 0.043046721000000024, 0.19371024450000007, 0.03874204890000002, 0.17433922005000008, 0.03486784401000002, 0.15690529804500009, 0.03138105960900001, 0.14121476824050008, 0.028242953648100012};
inline const std::vector<double> kCosine = {0.5, 0.1, 0.4282411613907041, 0.08681980515339464, 0.255, 0.05500000000000001, 0.08175883860929586, 0.023180194846605363, 0.01, 0.01, 0.08175883860929584, 0.023180194846605363, 0.255, 0.05500000000000002, 0.42824116139070423, 0.08681980515339469, 0.5000000000000001, 0.10000000000000006, 0.4282411613907043, 0.0868198051533947, 0.2550000000000001, 0.05500000000000005, 0.08175883860929607, 0.023180194846605412, 0.01, 0.01};
inline const std::vector<double> kLambda = {0.25, 0.05, 0.16666666666666666, 0.03333333333333333, 0.125, 0.025, 0.1, 0.020000000000000004, 0.08333333333333333, 0.016666666666666666, 0.07142857142857142, 0.014285714285714285, 0.0625, 0.0125, 0.05555555555555555, 0.011111111111111112, 0.05, 0.010000000000000002, 0.045454545454545456, 0.009090909090909092, 0.041666666666666664, 0.008333333333333333, 0.038461538461538464, 0.007692307692307693, 0.03571428571428571, 0.007142857142857143};
inline const std::vector<double> kLambdas = {0.5, 0.1, 0.45, 0.2, 0.405, 0.30000000000000004, 0.36450000000000005, 0.4, 0.32805, 0.5, 0.29524500000000004, 0.6000000000000001, 0.2657205, 0.7000000000000001, 0.23914845000000004, 0.8, 0.21523360500000005, 0.9, 0.19371024450000005, 1.0, 0.17433922005000005, 1.1, 0.15690529804500003, 1.2000000000000002, 0.14121476824050005, 1.3};
inline const std::vector<double> kLinear = {0.125, 0.025, 0.21875, 0.043750000000000004, 0.3125, 0.06250000000000001, 0.40625, 0.08125000000000002, 0.5, 0.10000000000000002, 0.5, 0.10000000000000002, 0.5, 0.10000000000000002, 0.5, 0.10000000000000002, 0.5, 0.10000000000000002, 0.5, 0.10000000000000002, 0.5, 0.10000000000000002, 0.5, 0.10000000000000002, 0.5, 0.10000000000000002};
inline const std::vector<double> kChained = {0.25, 0.05, 0.3, 0.06, 0.3375, 0.0675, 0.36450000000000005, 0.0729, 0.32805000000000006, 0.06561, 0.2952450000000001, 0.059049000000000004, 0.2657205000000001, 0.05314410000000001, 0.23914845000000007, 0.04782969000000001, 0.21523360500000008, 0.04304672100000001, 0.19371024450000007, 0.03874204890000001, 0.17433922005000008, 0.03486784401000001, 0.15690529804500009, 0.03138105960900001, 0.14121476824050008, 0.028242953648100012};
inline const std::vector<double> kPlateau = {0.5, 0.1, 0.5, 0.1, 0.5, 0.1, 0.5, 0.1, 0.25, 0.06, 0.25, 0.06, 0.25, 0.06, 0.25, 0.06, 0.125, 0.06, 0.125, 0.06, 0.125, 0.06, 0.0625, 0.06, 0.0625, 0.06};
// clang-format on
